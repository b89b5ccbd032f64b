"""The search index holds titles, sentences, captions, the glossary and what rows of tables are about, and no code;
and of some pages what readers call their subject, where the page has other words."""

from docutils import nodes
from sphinx.addnodes import download_reference

CALLED = {
    "book/cite": "license, licence, citation, BibTeX",
    "book/cluster": "multi-GPU, several GPUs, HPC, SSH, Kubernetes, distributed",
    "book/glossary": "masked language model, masked token",
    "book/handout": "worksheet, cheat sheet",
    "book/make": "fine-tuning, train a model, adapters, add a language, own templates",
    "book/methods": "how are intervals computed, bootstrap, definitions, formula, significance test, "
    "multiple comparisons, Holm, p-values, multi-token entities, subwords",
    "book/reading": "confidence interval, error bars, uncertainty, what do the colours mean, limitations, caveats, "
    "worked example, by hand",
    "book/rerun": "reproduce, reproduction, installation, quick start, Docker, Binder, requirements, "
    "Hugging Face, huggingface, download a model, offline, licences of data",
    "book/results": "output files, output folder, where are the results",
    "book/run_page": "use my own model, checkpoint, parameters, command line, options, config file, batch size, "
    "Python API, out of memory, CPU",
    "book/speed": "benchmark, performance, timing, memory, how long does it take, runtime",
    "book/teaching": "lesson plan, course, class, students, exercises, lecture, slides",
    "book/your_data": "use my own data, file format, bring your own data, CSV",
    "book/starter": "first notebook, homework, simple example, minimal example",
    "book/studies/05_laboratory": "which models were tested, training data, model list, seeds, random seed",
    "book/studies/11_datasets": "dataset sizes, LAMA, T-REx, Google-RE, how many prompts",
    "book/studies/12_accuracy": "factual knowledge, accuracy at one, precision at one, cloze, LAMA templates, "
    "what do language models know",
    "book/studies/13_rankings": "leaderboard, which model is best, model comparison",
    "book/studies/14_templates": "does the wording of a prompt matter, prompt sensitivity, paraphrases, "
    "robustness to wording",
    "book/studies/15_overconfidence": "same answer, mode collapse, frequent answers, majority, majority baseline, "
    "calibration, confidence",
    "book/studies/16_perplexity": "pseudo-perplexity, is perplexity a good measure",
    "book/studies/17_entities": "number of candidates, typed querying, candidate set",
    "book/studies/18_vocabulary": "tokenization, tokenizer, does size matter, larger models, scaling, "
    "multi-token answers, multi-token entities",
    "book/studies/19_lipid": "biomedical, PubMed, drugs, chemicals, human check, annotators",
    "book/studies/20_contexts": "does context help, retrieval, RAG",
    "book/studies/21_rank_change": "distractors, order of evidence",
    "book/studies/22_ucm": "understand, confusion, misunderstanding, does the model understand",
    "book/studies/23_copy": "copying from context, memorization",
    "book/studies/24_biases": "prompt bias, object prior, shortcuts",
    "book/studies/25_conflict": "hallucination, knowledge conflict, contradiction, counterfactual, "
    "distractor, adversarial context",
    "book/studies/31_saliency": "attention vs integrated gradients, attribution, explanation, "
    "interpretability, saliency, plausibility, faithfulness",
    "book/studies/33_perturbations": "robustness, adversarial, changed inputs",
    "book/studies/34_marks": "agreement between subject and verb, grammar, ground truth of explanations, "
    "random baseline",
    "book/studies/41_hurtfulness": "toxicity, toxic, harmful, offensive language, hate speech, HONEST, Vicuna, "
    "GPT-2, LLaMA",
    "book/studies/43_groups": "gender bias, sexism, discrimination, stereotypes, homophobia, fairness",
    "book/studies/45_samples": "non-binary, nonbinary, queer, identities, example completions",
    "book/studies/46_audit": "false positives, lexicon errors, does the conclusion change, "
    "deviations from the original papers, differ from the published numbers",
    "book/studies/47_lemmas": "HurtLex, word list, lexicon, which words",
    "book/studies/48_measure": "sentiment, classifier, VADER, CrowS-Pairs",
    "book/studies/90_claims": "which claims replicate, verdicts, results summary, main findings",
    "book/studies/92_trust": "statistical power, false positive rate, multiple testing",
    "book/studies/94_compare": "compare two models, all models side by side",
}


def readable(doctree):
    """A copy of a page without what nobody looks for by a word."""
    kept = doctree.deepcopy()
    for node in list(kept.findall(nodes.Element)):
        if isinstance(node, nodes.literal_block | download_reference) or "cell_input" in node.get("classes", ()):
            node.parent.remove(node)
        elif isinstance(node, nodes.title) and node.astext() == "Exercise":
            node.parent.remove(node)  # of most pages
        elif isinstance(node, nodes.title) and isinstance(node.parent, nodes.table):
            node.replace_self(nodes.paragraph("", node.astext()))  # a caption is no title
    for body in list(kept.findall(nodes.tbody)):
        for row in list(body.findall(nodes.row)):
            del row.children[1:]
            if row.astext().startswith("Parameter "):  # of what a run was given, alike on all pages
                body.remove(row)
    return kept


def called(name, page):
    """The page with what readers call it, each as a title, which the search counts more than a sentence; what is one of
    its own titles would be found twice."""
    own = {title.astext().lower() for title in page.findall(nodes.title)}
    boxes = [] if "/studies/" in name else list(page.findall(nodes.Admonition))  # an answer says too much
    for box in boxes[:1]:  # what a page opens with it is about; not what it asks to read
        page.append(nodes.title("", box.astext().partition("ou need ")[0]))
    page.extend(
        nodes.title("", words) for words in CALLED.get(name, "").split(", ") if words and words.lower() not in own
    )
    return page


def trim(app):
    if index_page := getattr(app.builder, "index_page", None):
        app.builder.index_page = lambda name, doctree, title: index_page(name, called(name, readable(doctree)), title)


def setup(app):
    app.connect("builder-inited", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
