"""Models of the zoo that train side by side."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from probekit.demo import zoo


def test_models_that_train_side_by_side_draw_no_bars():
    with ProcessPoolExecutor(1, get_context("spawn"), zoo._no_bars) as pool:
        assert pool.submit(eval, "__import__('tqdm.auto').auto.tqdm(range(1)).disable").result() is True
