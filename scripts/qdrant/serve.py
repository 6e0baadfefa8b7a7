"""The part of Qdrant's REST API that the agent service uses, answered by Qdrant's own engine in this process.

usage: serve.py [DIRECTORY] [PORT]
"""

import json
import os
import re
import shutil
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import qdrant_edge as engine


class Refused(Exception):
    """An answer with another status than 200."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Collections:
    """Collections by their names, each a shard of the engine with its configuration beside it."""

    def __init__(self, directory):
        self.directory = directory
        self.lock = threading.RLock()
        self.open = {}
        for name in os.listdir(directory):
            if os.path.exists(self.settings_file(name)):
                with open(self.settings_file(name), encoding="utf-8") as file:
                    settings = json.load(file)
                self.open[name] = (engine.EdgeShard.load(self.path(name)), settings)

    def path(self, name):
        return os.path.join(self.directory, name, "shard")

    def settings_file(self, name):
        return os.path.join(self.directory, name, "vectors.json")

    def create(self, name, settings):
        if name in self.open:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        shutil.rmtree(os.path.join(self.directory, name), ignore_errors=True)
        os.makedirs(self.path(name))
        distance = getattr(engine.Distance, settings["distance"])
        config = engine.EdgeConfig(vectors=engine.EdgeVectorParams(size=settings["size"], distance=distance))
        shard = engine.EdgeShard.create(self.path(name), config)
        with open(self.settings_file(name), "w", encoding="utf-8") as file:
            json.dump(settings, file)
        self.open[name] = (shard, settings)
        return True

    def drop(self, name):
        shard, _ = self.open.pop(name, (None, None))
        if shard is not None:
            shard.close()
        shutil.rmtree(os.path.join(self.directory, name), ignore_errors=True)
        return shard is not None

    def answer(self, method, path, body):
        """The `result` of a request."""
        if path == "/":
            return None
        if path == "/collections":
            return {"collections": [{"name": name} for name in self.open]}
        match = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        if match is None:
            raise Refused(404, "not found")
        name, rest = match.group(1), match.group(2) or ""
        if (method, rest) == ("PUT", ""):
            return self.create(name, body["vectors"])
        if (method, rest) == ("DELETE", ""):
            return self.drop(name)
        if name not in self.open:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        shard, settings = self.open[name]
        return of_collection(shard, settings, method, rest, body)


def of_collection(shard, settings, method, rest, body):
    update = engine.UpdateOperation
    done = {"operation_id": 0, "status": "completed"}
    if (method, rest) == ("GET", ""):
        count = shard.info().points_count
        return {"status": "green", "points_count": count, "config": {"params": {"vectors": settings}}}
    if (method, rest) == ("PUT", "/index"):
        return done
    if (method, rest) == ("PUT", "/points"):
        points = []
        for point in body["points"]:
            if len(point["vector"]) != settings["size"]:
                expected, found = settings["size"], len(point["vector"])
                raise Refused(400, f"Wrong input: Vector dimension error: expected dim: {expected}, got {found}")
            vector = [float(value) for value in point["vector"]]
            points.append(engine.Point(point["id"], vector, point.get("payload")))
        shard.update(update.upsert_points(points))
        return done
    if (method, rest) == ("POST", "/points/delete"):
        shard.update(update.delete_points(body["points"]))
        return done
    if (method, rest) == ("POST", "/points/count"):
        return {"count": shard.count(engine.CountRequest(filter=condition(body.get("filter"))))}
    if (method, rest) == ("POST", "/points"):
        found = shard.retrieve(body["ids"], True, bool(body.get("with_vector")))
        return [{"id": point.id, "payload": point.payload, "vector": point.vector} for point in found]
    if (method, rest) == ("POST", "/points/query"):
        request = engine.QueryRequest(
            limit=body.get("limit") or 10,
            query=engine.Query.Nearest([float(value) for value in body["query"]]),
            filter=condition(body.get("filter")),
            with_payload=bool(body.get("with_payload")),
            with_vector=False,
        )
        found = shard.query(request)
        return {"points": [{"id": point.id, "version": point.version, "score": point.score} for point in found]}
    raise Refused(404, f"this subset has no {method} {rest}")


def condition(filters):
    """A filter of the engine: all conditions of `must`, each a match of a payload field."""
    if not filters:
        return None
    must = []
    for part in filters["must"]:
        match = part["match"]
        wanted = engine.MatchValue(match["value"]) if "value" in match else engine.MatchAny(match["any"])
        must.append(engine.FieldCondition(key=part["key"], match=wanted, range=None))
    return engine.Filter(must=must, should=None, must_not=None)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    collections = None

    def handle_request(self):
        status = 200
        length = int(self.headers.get("content-length") or 0)
        try:
            body = json.loads(self.rfile.read(length) or b"null") or {}
            path = self.path.split("?")[0].rstrip("/") or "/"
            with self.collections.lock:
                result = self.collections.answer(self.command, path, body)
            answer = {"result": result, "status": "ok", "time": 0.0}
        except Refused as error:
            status, answer = error.status, {"status": {"error": str(error)}, "time": 0.0}
        except Exception as error:  # noqa: BLE001: as the server, a wrong input is an answer
            status, answer = 400, {"status": {"error": f"Wrong input: {error}"}, "time": 0.0}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_DELETE = handle_request

    def log_message(self, *_):
        pass


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="grov-qdrant.")
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    os.makedirs(directory, exist_ok=True)
    Handler.collections = Collections(directory)
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()
    if len(sys.argv) < 2:
        shutil.rmtree(directory, ignore_errors=True)


main()
