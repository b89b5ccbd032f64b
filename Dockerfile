# docker build --tag probekit . && docker run --name book probekit && docker cp book:/report/_build/html html
FROM python:3.11-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends make=4.* \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 reader \
    && install --directory --owner=1000 --group=1000 /report

USER 1000
WORKDIR /report

# torch without CUDA, from its publisher; with --build-arg TORCH= the package index's, with it (hashes: locks/torch.txt)
ARG TORCH=https://download.pytorch.org/whl/cpu
ENV PIP_EXTRA_INDEX_URL=$TORCH

COPY --chown=1000:1000 . .
RUN make .venv/ready

CMD ["make", "book"]
