# The book on a server with a GPU. The wheels bring CUDA; nvcc, for chapter 5's GPU cells alone, comes with another base:
# docker build --build-arg BASE=nvidia/cuda:12.9.1-devel-ubuntu24.04 …
ARG BASE=ubuntu:24.04
FROM ${BASE}

# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ make python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*

# The second folder holds the reader's copies: a volume mounted there is the reader's.
RUN useradd --uid 1001 --create-home reader \
    && install --directory --owner=reader --group=reader /home/reader/book /home/reader/gpu-python-casebook
USER 1001
WORKDIR /home/reader/book
COPY --chown=reader:reader . .
RUN make environment && .venv/bin/python -m casebook prepare --all

EXPOSE 8888
CMD ["sh", "-c", "exec .venv/bin/jupyter lab --ip=0.0.0.0 --no-browser \"$(.venv/bin/python -m casebook lab)\""]
