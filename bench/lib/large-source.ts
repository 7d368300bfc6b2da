// A server that answers like GitHub about a repository with many issues and notes, at once: everything follows from its number.
// Arguments: issues, notes, and the URL of the repository for git.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const [ISSUES, NOTES] = [Number(process.argv[2]), Number(process.argv[3])]
const CLONE_URL = process.argv[4] ?? ''
const PATH = 'crew/large'
const PEOPLE = 50
const START = Date.parse('2015-01-01T00:00:00Z')

const at = (second: number) => new Date(START + second * 1000).toISOString().replace('.000', '')
const times = (second: number) => ({ created_at: at(second), updated_at: at(second) })
const person = (number: number) => ({
  login: `person-${number % PEOPLE}`,
  type: 'User',
  name: `Person ${number % PEOPLE}`
})

const repository = {
  ...{ id: 1, name: 'large', full_name: PATH, private: false, visibility: 'public', description: 'Large', fork: false },
  ...{
    owner: { login: 'crew' },
    clone_url: CLONE_URL,
    default_branch: 'master',
    has_issues: true,
    has_wiki: false,
    size: 1
  },
  ...times(0)
}

/** An item of a list, by its number from 0. */
type Item = (number: number) => object

const issue: Item = number => ({
  id: number + 1,
  number: number + 1,
  title: `Issue ${number + 1}: something is not as it should be`,
  body: `It happens since #${number}. @person-${(number * 7) % PEOPLE} has seen it, too.\n\n    at line ${number}\n`,
  state: number % 3 === 0 ? 'closed' : 'open',
  user: person(number),
  assignees: [person(number + 1)],
  labels: [{ name: `label ${number % 20}` }],
  milestone: null,
  reactions: { total_count: 0 },
  ...times(number)
})

const note: Item = number => ({
  id: number + 1,
  body: `Note ${number + 1}: see #${(number % ISSUES) + 1}, and what @person-${(number * 3) % PEOPLE} wrote.`,
  user: person(number),
  issue_url: `http://source/repos/${PATH}/issues/${(number % ISSUES) + 1}`,
  reactions: { total_count: 0 },
  ...times(ISSUES + number)
})

const label: Item = number => ({ name: `label ${number}`, color: 'd73a4a', description: null })

/** The lists: how many items, and the second of the first of them. */
const LISTS: { readonly [path: string]: readonly [item: Item, count: number, start: number] } = {
  [`repos/${PATH}/issues`]: [issue, ISSUES, 0],
  [`repos/${PATH}/issues/comments`]: [note, NOTES, ISSUES],
  [`repos/${PATH}/labels`]: [label, 20, 0]
}

/** Lists of a repository that are empty here. */
const EMPTY = /^repos\/crew\/large\/[a-z]+(?:\/(?:comments|events))?$|^user\/orgs$/

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
  const path = url.pathname.replace(/^\/api\/v3\//, '')
  const list = LISTS[path]
  if (list) return sendPage(request, response, url, list)
  const one = /^users\/person-(\d+)$/.exec(path)
  if (one) return send(request, response, person(Number(one[1])))
  if (path === 'user') return send(request, response, { login: 'person-0' })
  if (path === 'user/repos') return send(request, response, [repository])
  if (path === `repos/${PATH}`) return send(request, response, repository)
  if (EMPTY.test(path)) return send(request, response, [])
  response.writeHead(404).end()
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit(0))

function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  [item, count, start]: readonly [Item, number, number]
): void {
  const [size, page] = [Number(url.searchParams.get('per_page') ?? 30), Number(url.searchParams.get('page') ?? 1)]
  const since = url.searchParams.get('since')
  const first = since === null ? 0 : Math.max(0, (Date.parse(since) - START) / 1000 - start)
  const from = first + (page - 1) * size
  const items = Array.from({ length: Math.max(0, Math.min(size, count - from)) }, (_, place) => item(from + place))
  url.searchParams.set('page', String(page + 1))
  send(request, response, items, from + size < count ? { link: `<${url.href}>; rel="next"` } : {})
}

/** The content of a URL never changes, so any tag means the same. */
function send(request: IncomingMessage, response: ServerResponse, value: unknown, headers = {}): void {
  if (request.headers['if-none-match'] === '"same"') return void response.writeHead(304).end()
  response.writeHead(200, { 'content-type': 'application/json', etag: '"same"', ...headers }).end(JSON.stringify(value))
}
