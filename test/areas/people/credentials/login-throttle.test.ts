// The story: logins were looked up so that `alicé`, `alice ` and `alice` were one account, but wrong passwords were counted
// by the text of the login, and each door counted its own. Git answered 504 of 600 guesses.
import { registrationToken } from '../../../../src/areas/ci/runners/registration-token.js'
import {
  attempt,
  PER_ACCOUNT,
  PER_ACCOUNT_AND_ADDRESS,
  PER_ADDRESS,
  TOKENS_PER_ADDRESS
} from '../../../../src/areas/people/credentials/login-throttle.js'
import { testApp } from '../../../helpers/app.js'
import type { TestUser } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { makeTrigger } from '../../ci/pipelines/make-triggers.js'

const app = await testApp(t)

let last = 0
/** An address that no other test uses. */
const fresh = () => `198.51.100.${++last}`

const basic = (login: string, password: string) => `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`

/** The doors of a password. All give the status. */
const doors = {
  api: async (login: string, password: string, remoteAddress: string) =>
    (await app.nobody.inject({ method: 'POST', url: '/api/v3/session', payload: { login, password }, remoteAddress }))
      .statusCode,
  git: async (login: string, password: string, remoteAddress: string) => {
    const url = '/some/project.git/info/refs?service=git-upload-pack'
    const headers = { authorization: basic(login, password) }
    // A right password finds that there is no such project.
    return (await app.fastify.inject({ url, headers, remoteAddress })).statusCode
  },
  page: async (login: string, password: string, remoteAddress: string) => {
    const headers = { host: 'git.example.org', origin: 'http://git.example.org' }
    const payload = { login, password }
    return (await app.fastify.inject({ method: 'POST', url: '/users/sign_in', headers, payload, remoteAddress }))
      .statusCode
  }
}
const DOORS = [doors.git, doors.api, doors.page]
const answered = (statuses: readonly number[]) => statuses.filter(status => status === 401).length
const count = (length: number) => Array.from({ length }, (_, at) => at)

/** Logins that a loose collation takes for the username. */
const spellings = ({ username, email }: TestUser) => [
  username,
  username.toUpperCase(),
  `${username} `,
  username.replace('u', 'ü'),
  `${username}\u0301`,
  `${username}🦊`,
  email,
  email.toUpperCase()
]

t.test('names that are not the same are not the same account', async t => {
  const user = await app.make.user()
  const address = fresh()
  for (const login of [user.username, user.username.toUpperCase(), user.email, user.email.toUpperCase()]) {
    t.equal(await doors.api(login, user.password, address), 201, login)
  }
  const others = [`${user.username} `, ` ${user.username}`, user.username.replace('u', 'ü'), `${user.email} `]
  for (const login of [...others, `${user.username}🦊`, `${user.username}\u0000`, user.email.replace('e', 'é')]) {
    t.equal(await doors.api(login, user.password, address), 401, JSON.stringify(login))
  }
})

t.test('guesses at all doors, under all spellings, count together', async t => {
  const user = await app.make.user()
  const address = fresh()
  const same = [user.username, user.username.toUpperCase(), user.email, user.email.toUpperCase()]
  const statuses: number[] = []
  for (const at of count(PER_ACCOUNT_AND_ADDRESS + 5)) {
    const door = DOORS[at % DOORS.length] ?? doors.api
    statuses.push(await door(same[at % same.length] ?? '', `wrong ${at}`, address))
  }
  t.same(
    statuses.slice(0, PER_ACCOUNT_AND_ADDRESS),
    count(PER_ACCOUNT_AND_ADDRESS).map(() => 401)
  )
  t.same(
    statuses.slice(PER_ACCOUNT_AND_ADDRESS),
    count(5).map(() => 429)
  )
  for (const door of DOORS) t.equal(await door(user.username, user.password, address), 429, 'the right one too')
  t.equal(await doors.api(user.username, user.password, fresh()), 201, 'but not from elsewhere')
})

t.test('600 guesses over git at once', async t => {
  const user = await app.make.user()
  const address = fresh()
  const all = spellings(user)
  const statuses = await Promise.all(
    count(600).map(at => doors.git(all[at % 10] ?? `${user.username}-${at}`, `wrong ${at}`, address))
  )
  t.equal(answered(statuses), PER_ADDRESS)
  t.equal(answered(statuses) + statuses.filter(status => status === 429).length, 600)
  const res = await app.nobody.inject({
    method: 'POST',
    url: '/api/v3/session',
    payload: { login: (await app.make.user()).username, password: 'wrong' },
    remoteAddress: address
  })
  t.equal(res.statusCode, 429, 'the address has no guesses left for others')
  t.match(res.headers['retry-after'], /^([1-9]|[1-5]\d|60)$/)
})

t.test('a burst does not get past the limit of an account', async t => {
  const user = await app.make.user()
  const address = fresh()
  const statuses = await Promise.all(count(50).map(at => doors.api(user.username, `wrong ${at}`, address)))
  t.equal(answered(statuses), PER_ACCOUNT_AND_ADDRESS)
})

t.test('right passwords do not count, however many come at once', async t => {
  const user = await app.make.user()
  const address = fresh()
  const statuses = await Promise.all(count(40).map(() => doors.api(user.username, user.password, address)))
  t.same(new Set(statuses), new Set([201]))
  t.equal(await doors.api(user.username, 'wrong', address), 401)
})

t.test('guesses from many addresses', async t => {
  const user = await app.make.user()
  const home = fresh()
  t.equal(await doors.git(user.username, user.password, home), 404)
  const statuses: number[] = []
  for (const at of count(PER_ACCOUNT + 10)) statuses.push(await doors.git(user.username, 'wrong', `203.0.113.${at}`))
  t.equal(answered(statuses), PER_ACCOUNT)
  t.equal(await doors.git(user.username, user.password, fresh()), 429, 'no more from an address that is new')
  t.equal(await doors.git(user.username, user.password, home), 404, 'the address of the user still works')
})

t.test('addresses of one IPv6 network count as one', async t => {
  const user = await app.make.user()
  const statuses: number[] = []
  for (const at of count(PER_ACCOUNT_AND_ADDRESS + 3)) {
    statuses.push(await doors.api(user.username, 'wrong', `2001:db8:1:2:${at + 1}::7`))
  }
  t.equal(answered(statuses), PER_ACCOUNT_AND_ADDRESS)
})

t.test('wrong tokens', async t => {
  const user = await app.make.user()
  const address = fresh()
  const ask = async (headers: Record<string, string>) =>
    (await app.nobody.inject({ url: '/api/v3/user', headers, remoteAddress: address })).statusCode
  const guesses = [
    (at: number) => ask({ 'private-token': `guess-${at}` }),
    (at: number) => ask({ cookie: `_service_session=guess-${at}` }),
    (at: number) => doors.git('gitlab-ci-token', `guess-${at}`, address),
    (at: number) => doors.git(`guess-${at}`, '', address)
  ]
  const statuses: number[] = []
  for (const at of count(TOKENS_PER_ADDRESS + 10)) statuses.push((await guesses[at % guesses.length]?.(at)) ?? 0)

  t.test('are refused after a while, at all doors together', async t => {
    t.equal(answered(statuses), TOKENS_PER_ADDRESS)
    t.same(new Set(statuses.slice(TOKENS_PER_ADDRESS)), new Set([429]))
  })

  t.test('do not stop right tokens and passwords', async t => {
    t.equal(await ask({ 'private-token': user.privateToken }), 200)
    t.equal(await doors.git(user.username, user.privateToken, address), 404)
    t.equal(await doors.api(user.username, user.password, address), 201)
  })
})

t.test('wrong tokens of runners and builds are refused after a while, and right ones work', async t => {
  const address = fresh()
  const send = async (url: string, payload: object) =>
    (await app.fastify.inject({ method: 'POST', url, payload, remoteAddress: address })).statusCode
  const guesses = [
    (token: string) => send('/api/v4/runners', { token }),
    (token: string) => send('/api/v4/runners/verify', { token }),
    (token: string) => send('/api/v4/jobs/request', { token }),
    (token: string) => send('/ci/api/v1/runners/register', { token })
  ]
  const statuses: number[] = []
  for (const at of count(TOKENS_PER_ADDRESS + 10)) {
    statuses.push((await guesses[at % guesses.length]?.(`guess-${at}`)) ?? 0)
  }
  t.same(new Set(statuses.slice(0, TOKENS_PER_ADDRESS)), new Set([403]))
  t.same(new Set(statuses.slice(TOKENS_PER_ADDRESS)), new Set([429]))
  t.equal(await send('/api/v4/runners', { token: await registrationToken() }), 201)
})

t.test('wrong tokens of triggers are refused after a while, and right ones work', async t => {
  const project = await app.make.project()
  await app.make.file(project, '.gitstead-ci.yml', 'job: {script: make}\n')
  const right = await makeTrigger(project)
  const address = fresh()
  const call = async (token: string) => {
    const [url, payload] = [`/api/v3/projects/${project.id}/trigger/builds`, { token, ref: 'master' }]
    return (await app.fastify.inject({ method: 'POST', url, payload, remoteAddress: address })).statusCode
  }
  const statuses: number[] = []
  for (const at of count(TOKENS_PER_ADDRESS + 10)) statuses.push(await call(`guess-${at}`))
  t.same(new Set(statuses.slice(0, TOKENS_PER_ADDRESS)), new Set([404]))
  t.same(new Set(statuses.slice(TOKENS_PER_ADDRESS)), new Set([429]))
  t.equal(await call(right), 201)
})

t.test('a token without the right for git is no wrong password', async t => {
  const user = await app.make.user()
  const address = fresh()
  const token = await app.make.token(user, { scopes: 'read_user' })
  for (const _ of count(PER_ACCOUNT_AND_ADDRESS + 1)) t.equal(await doors.git(user.username, token, address), 401)
  t.equal(await doors.git(user.username, user.password, address), 404)
})

t.test('wrong passwords count in all server processes together', async t => {
  // The counts in memory are of the module, so that a second one of it is as another process.
  const file = '../../../../src/areas/people/credentials/login-throttle.js?of=another-process'
  const other = (await import(file)) as typeof import('../../../../src/areas/people/credentials/login-throttle.js')
  const user = await app.make.user()
  const account = `user ${user.id}`
  const wrong = async () => null
  const right = async () => 'the user'

  t.test('up to the limit of one of them', async t => {
    const address = fresh()
    for (const at of count(PER_ACCOUNT_AND_ADDRESS)) {
      t.equal(await (at % 2 === 0 ? other.attempt : attempt)(account, address, wrong), null)
    }
    await t.rejects(other.attempt(account, address, right), { name: 'TooManyRequests' })
    await t.rejects(attempt(account, address, right), { name: 'TooManyRequests' })
    t.equal(await other.attempt('user of another account', address, right), 'the user')
  })

  t.test('and an address from which one was right is known to all', async t => {
    const address = fresh()
    t.equal(await attempt(account, address, right), 'the user')
    const guesses = await Promise.allSettled(count(PER_ACCOUNT).map(() => attempt(account, fresh(), wrong)))
    t.ok(guesses.some(({ status }) => status === 'rejected'))
    await t.rejects(other.attempt(account, fresh(), right), { name: 'TooManyRequests' })
    t.equal(await other.attempt(account, address, right), 'the user')
  })
})
