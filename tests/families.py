"""A small network of every masked family, beyond those of the zoo."""

from typing import Any

import torch
import transformers

REFORMER = {"attention_head_size": 8, "attn_layers": ["local", "lsh"], "axial_pos_embds": False, "is_decoder": False}
REFORMER |= {"feed_forward_size": 64, "local_attn_chunk_length": 8, "lsh_attn_chunk_length": 8, "num_buckets": 4}
SIZES: dict[str, Any] = {
    **{
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_seq_len": 130,
    },
    **{"embedding_size": 32, "max_position_embeddings": 130, "initializer_range": 0.3, "init_std": 0.3},
}
DIM = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
SIDES = {
    **{"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64},
    **{"encoder_attention_heads": 4, "decoder_attention_heads": 4},
}
GROUPS = dict.fromkeys(("q_groups", "k_groups", "v_groups", "post_attention_groups", "intermediate_groups"), 1)
FAMILIES: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("Albert", "Bert", "Camembert", "Data2VecText", "Electra", "Ernie", "IBert", "LayoutLM")},
    **{name: {} for name in ("MegatronBert", "MPNet", "RemBert", "Roberta", "RobertaPreLayerNorm", "RoFormer")},
    **{name: {} for name in ("XLMRoberta", "XLMRobertaXL", "Tapas")},
    "Bart": SIDES,
    "BigBird": {"attention_type": "original_full"},
    "ConvBert": {},
    "Deberta": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 16},
    "DebertaV2": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 16},
    "DistilBert": DIM,
    "Esm": {"position_embedding_type": "rotary", "token_dropout": True},
    "EuroBert": {"num_key_value_heads": 4},
    "FNet": {},
    "Flaubert": {**DIM, "emb_dim": 32},
    "Funnel": {"d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 64, "block_sizes": [1, 1], "num_decoder_layers": 1},
    "Longformer": {"attention_window": 8},
    "Luke": {"entity_vocab_size": 10, "entity_emb_size": 32},
    "MBart": SIDES,
    "MobileBert": {"intra_bottleneck_size": 32, "true_hidden_size": 32},
    "ModernBert": {"local_attention": 8},
    "Nystromformer": {"num_landmarks": 8, "segment_means_seq_len": 8, "conv_kernel_size": 5},
    "Reformer": {**REFORMER, "hash_seed": 1},
    "RoCBert": {"shape_vocab_size": 20, "pronunciation_vocab_size": 20},
    "SqueezeBert": {"output_groups": 1, **GROUPS},
    "XLM": {**DIM, "emb_dim": 32},
    "Yoso": {"conv_window": 3},
}


def made(family: str, tokenizer: Any, load: Any = transformers.AutoModelForMaskedLM) -> Any:
    special = {f"{role}_token_id": getattr(tokenizer, f"{role}_token_id") for role in ("pad", "bos", "eos", "mask")}
    sizes = {**SIZES, **special, "decoder_start_token_id": 2, **FAMILIES[family]}
    if family == "Funnel":
        del sizes["num_hidden_layers"]  # it has blocks
    torch.manual_seed(7)
    config = getattr(transformers, f"{family}Config")(vocab_size=len(tokenizer), **sizes)
    network = load.from_config(config).eval()
    with torch.no_grad():
        network.get_input_embeddings().weight.normal_(
            0, 0.3
        )  # that of the padding, too, as MobileBERT's neighbours see
    return network
