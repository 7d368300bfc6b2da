// The module `node:http`, for those who need more than its types. An import would read all of its exports at once, and one of them
// loads WebSocket and fetch: that is an eighth of the time of a short command.
export const { Agent, createServer, get, IncomingMessage, request, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http')
