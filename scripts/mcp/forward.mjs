// Forwards every request to the proxy of the test with its token and the project's directory, which the conformance suite cannot send.
// Host and Origin pass as they are. Prints its own port.
import http from 'node:http';

const [port, token, directory] = process.argv.slice(2);
const server = http.createServer((request, response) => {
  const headers = {
    host: `127.0.0.1:${port}`,
    ...request.headers,
    authorization: `Bearer ${token}`,
    'x-grov-project-dir': directory,
  };
  const forwarded = http.request({ port, host: '127.0.0.1', path: request.url, method: request.method, headers }, answer => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  request.pipe(forwarded);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
