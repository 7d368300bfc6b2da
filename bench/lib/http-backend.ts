// Serves git with its own server program, as a web server would: `git http-backend` through CGI, one process per request.
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const HEAD_END = Buffer.from('\r\n\r\n')

const server = createServer(serve)
server.requestTimeout = 0
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit(0))

function serve(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const header = (name: string) => String(request.headers[name] ?? '')
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROJECT_ROOT: process.argv[2],
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_HTTP_MAX_REQUEST_BUFFER: '100M',
      REMOTE_USER: 'bench',
      REMOTE_ADDR: '127.0.0.1',
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: header('content-type'),
      ...(request.headers['content-length'] ? { CONTENT_LENGTH: header('content-length') } : {}),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol')
    }
  })
  child.stdin.on('error', () => undefined)
  request.pipe(child.stdin)
  let head: Buffer = Buffer.alloc(0)
  const takeHead = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const at = head.indexOf(HEAD_END)
    if (at === -1) return
    child.stdout.off('data', takeHead)
    begin(response, head.toString('latin1', 0, at))
    response.write(head.subarray(at + HEAD_END.length))
    child.stdout.pipe(response)
  }
  child.stdout.on('data', takeHead)
  child.once('close', () => response.end())
}

function begin(response: ServerResponse, head: string): void {
  const pairs = head.split('\r\n').map(line => line.split(': ', 2) as [string, string])
  const status = pairs.find(([name]) => name.toLowerCase() === 'status')?.[1]
  response.writeHead(
    Number(status?.slice(0, 3) ?? 200),
    Object.fromEntries(pairs.filter(([name]) => name !== 'Status'))
  )
}
