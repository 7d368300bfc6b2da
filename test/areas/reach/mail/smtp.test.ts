// Mail to a real SMTP server, with realistic server faults.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type NewMail, queueMail } from '../../../../src/areas/reach/mail/outbox.js'
import { noteServer } from '../../../../src/areas/reach/mail/pacing.js'
import { sendDelivery } from '../../../../src/areas/reach/mail/send.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { sendTo, smtpServer } from '../../../helpers/smtp.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const project = await app.make.project()
await app.runJobs()

interface Delivery {
  readonly state: string
  readonly error: string | null
  readonly attempts: number
}

let count = 0

/** Queues a mail to an address of a user, and runs its job. */
async function send(address: string, more: Partial<NewMail<'test'>> = {}, userId: number | null = null) {
  const once = `mail ${++count}`
  await queueMail({
    once,
    kind: 'test',
    facts: { sent_at: 'noon' },
    recipients: [{ userId, address, reason: 'test' }],
    ...more
  })
  await app.runJobs()
  return { once, now: () => read(once) }
}

const read = (once: string) =>
  row<Delivery>(
    'select d.state, d.error, d.attempts from mail_deliveries d join mails m on m.id = d.mail_id where m.once = ?',
    [once]
  )

/** Makes jobs run now that wait for a later try. */
async function runLater() {
  noteServer(true)
  await execute("update jobs set state = 'ready', run_at = now(3) where queue = 'mail'")
  await app.runJobs()
}

t.beforeEach(async () => {
  noteServer(true)
  await execute("delete from jobs where queue = 'mail'")
})

t.test('a mail has headers for threading, filtering and unsubscribing', async t => {
  const server = await smtpServer(t)
  sendTo(server.port, {}, { reply_to: 'Answers <answers@example.org>' })
  const user = await app.make.user()
  const list = { projectId: project.id, target: { type: 'Issue' as const, id: 7, projectId: project.id } }
  await send(user.email, { thread: 'issue_7', list }, user.id)
  const [mail, ...rest] = server.mails
  t.same(rest, [])
  t.equal(mail?.to, user.email)
  t.match(mail, {
    subject: /^A test of the mail of /,
    inReplyTo: /^<issue_7@/,
    messageId: /^<\S+@\S+>$/,
    from: { value: [{ name: 'Gitstead', address: 'git@example.org' }] },
    replyTo: { value: [{ name: 'Answers', address: 'answers@example.org' }] },
    text: /You get this mail because/,
    html: /You get this mail because/
  })
  const source = mail?.source ?? ''
  const header = (name: string) =>
    new RegExp(`^${name}: *((?:.|\r\n[ \t])*)`, 'im').exec(source)?.[1]?.replace(/\r\n/g, '').trim()
  t.equal(header('References'), mail?.inReplyTo)
  t.match(header('List-Id'), new RegExp(`<${project.id}\\.project\\.`))
  t.equal(header('Precedence'), 'list')
  t.equal(header('Auto-Submitted'), 'auto-generated')
  t.equal(header('X-Auto-Response-Suppress'), 'All')
  t.equal(header('List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click')
  t.match(header('List-Unsubscribe')?.replace(/\s/g, ''), /^<http:\/\/[^>]*\/-\/unsubscribe\?token=[\w.-]+>$/)
})

t.test('a server with TLS and a login', async t => {
  const names: string[] = []
  const server = await smtpServer(t, {
    disabledCommands: [],
    authOptional: false,
    onAuth: ({ username, password }, _session, done) => {
      names.push(`${username}:${password}`)
      return password === 'right' ? done(null, { user: username }) : done(new Error('Wrong'))
    }
  })
  const login = { user: 'git', password: 'right', tls: 'starttls' }
  sendTo(server.port, { ...login, verify_tls: false })
  t.match(await (await send('tls@example.org')).now(), { state: 'sent' })
  t.same(names, ['git:right'])

  const refused = [
    { smtp: login, error: /certificate/, about: 'the certificate is checked when a password is sent' },
    { smtp: { ...login, verify_tls: false, password: 'wrong' }, error: /AUTH/, about: 'a wrong password' },
    { smtp: { tls: 'none' }, error: /authenticat|530/i, about: 'no login' }
  ]
  for (const { smtp, error, about } of refused) {
    noteServer(true)
    sendTo(server.port, smtp)
    const sent = await send('tls@example.org')
    t.match(await sent.now(), { state: 'waiting', error, attempts: 1 }, about)
  }
  t.equal(server.mails.length, 1)
})

t.test('TLS from the start', async t => {
  const server = await smtpServer(t, { secure: true })
  sendTo(server.port, { tls: 'tls', verify_tls: false })
  t.match(await (await send('secure@example.org')).now(), { state: 'sent' })
})

t.test('a server without TLS gets no mail when TLS is required', async t => {
  const server = await smtpServer(t)
  sendTo(server.port, { tls: 'starttls-required' })
  t.match(await (await send('a@example.org')).now(), { state: 'waiting', error: /STARTTLS/ })
  sendTo(server.port, { tls: 'starttls' })
  noteServer(true)
  t.match(await (await send('a@example.org')).now(), { state: 'sent' })
})

t.test('a mail is tried again after a 4xx, and never after a 5xx', async t => {
  const server = await smtpServer(t)
  sendTo(server.port)
  server.refuse.recipient = () => '451 4.3.0 Try again later'
  const later = await send('later@example.org')
  t.match(await later.now(), { state: 'waiting', error: 'RCPT TO: 451 4.3.0 Try again later', attempts: 1 })
  t.match(await row("select state, run_at > now() as waits from jobs where queue = 'mail'"), {
    state: 'delayed',
    waits: 1
  })
  server.refuse.recipient = () => null
  await runLater()
  t.match(await later.now(), { state: 'sent', error: null, attempts: 2 })
})

t.test('a mailbox that does not exist only gets security mail from then on', async t => {
  const server = await smtpServer(t)
  sendTo(server.port)
  server.refuse.recipient = address => (/^gone/i.test(address) ? '550 5.1.1 No such user' : null)
  const gone = await send('Gone@example.org')
  t.match(await gone.now(), { state: 'failed', error: /550 5\.1\.1 No such user/ })
  t.same(await row("select count(*) as n from jobs where queue = 'mail'"), { n: 0 }, 'the mail is given up')
  t.match(await (await send('gone@example.org')).now(), { state: 'canceled', error: 'the address bounced' })
  server.refuse.recipient = () => null
  t.match(await (await send('gone@example.org', { always: true })).now(), { state: 'sent' })
  t.match(await (await send('gone@example.org')).now(), { state: 'sent' }, 'the mailbox exists again')
})

t.test('a mail that a server refuses is given up, and its address still gets mail', async t => {
  const server = await smtpServer(t)
  sendTo(server.port)
  server.refuse.data = () => '554 5.7.1 Spam'
  t.match(await (await send('strict@example.org')).now(), { state: 'failed', error: /554 5\.7\.1 Spam/ })
  server.refuse.data = () => null
  t.match(await (await send('strict@example.org')).now(), { state: 'sent' })
})

t.test('a slow server gets its mails one at a time', async t => {
  let open = 0
  let most = 0
  const server = await smtpServer(t, {
    onMailFrom: (_address, _session, done) => {
      most = Math.max(most, ++open)
      setTimeout(() => done(null), 50)
    },
    onData: (stream, _session, done) => {
      stream.resume()
      stream.on('end', () => setTimeout(() => done(null, String(--open)), 50))
    }
  })
  sendTo(server.port)
  const recipients = Array.from({ length: 6 }, (_, at) => ({ userId: null, address: `slow-${at}@b.c`, reason: 'test' }))
  await queueMail({ once: 'slow', kind: 'test', facts: { sent_at: '' }, recipients })
  const found = await rows<{ id: number }>("select id from mail_deliveries where address like 'slow-%'")
  await Promise.all(found.map(({ id }) => sendDelivery(id)))
  t.same(await rows("select distinct state from mail_deliveries where address like 'slow-%'"), [{ state: 'sent' }])
  t.equal(most, 1)
})

t.test('a mail is given up after two days', async t => {
  const server = await smtpServer(t)
  sendTo(server.port)
  server.refuse.recipient = () => '450 4.2.0 Busy'
  const busy = await send('busy@example.org')
  await execute('update mail_deliveries set created_at = now() - interval 3 day')
  await runLater()
  t.match(await busy.now(), { state: 'failed', error: /450/, attempts: 2 })
})

/** A server whose connections all behave in one odd way. */
async function oddServer(t: { teardown(fn: () => void): void }, act: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    act(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

t.test('after a server failure, the mail waits and the server rests', async t => {
  const cases: readonly [about: string, act: (socket: Socket) => void, error: RegExp][] = [
    ['never answers', () => undefined, /Greeting never received|in time/],
    ['answers byte by byte without an end', talk({ DATA: trickle }), /did not take the mail in time/],
    ['is not a mail server', socket => void socket.write('SSH-2.0-OpenSSH\r\n'), /Invalid greeting|SSH-2/],
    ['closes the connection at once', socket => void socket.destroy(), /./],
    ['shuts down', socket => void socket.write('421 4.3.2 Closing\r\n'), /421/],
    ['closes the connection during the mail', talk({ 'DATA\r\n': '354 go\r\n' }), /closed/i],
    ['sends an endless response', socket => void socket.write(`220-${'x'.repeat(300_000)}`), /./]
  ]
  for (const [about, act, error] of cases) {
    noteServer(true)
    sendTo(await oddServer(t, act), { timeout: 1, send_timeout: 1 })
    const sent = await send('odd@example.org')
    t.match(await sent.now(), { state: 'waiting', error, attempts: 1 }, about)
  }
  const other = await send('odd@example.org')
  t.match(await other.now(), { state: 'waiting', attempts: 0 }, 'other mails do not wait for the server')
  const server = await smtpServer(t)
  sendTo(server.port)
  await runLater()
  t.match(await other.now(), { state: 'sent' })
})

type Answers = { readonly [command: string]: string | ((socket: Socket) => void) }

/** Responds as given, to any other command with 250, and to a mail by closing the connection. */
const talk = (answers: Answers) => (socket: Socket) => {
  socket.write('220 odd\r\n')
  socket.on('data', chunk => {
    const text = chunk.toString()
    const [, answer = '250 ok\r\n'] = Object.entries(answers).find(([command]) => text.startsWith(command)) ?? []
    if (!/^(EHLO|MAIL|RCPT|DATA|RSET|QUIT)/.test(text)) return socket.destroy()
    return typeof answer === 'string' ? socket.write(answer) : answer(socket)
  })
}

function trickle(socket: Socket) {
  const timer = setInterval(() => socket.write('354-x\r\n'), 100)
  socket.on('close', () => clearInterval(timer))
}

t.test('no name, subject or address can add a header or a recipient', async t => {
  const server = await smtpServer(t)
  const bad = 'Eve\r\nBcc: other@example.org\r\n\r\n<script>alert(1)</script>\0"'
  sendTo(server.port)
  const user = await app.make.user()
  await execute('update users set name = ? where id = ?', [bad, user.id])
  await send(user.email, { facts: { sent_at: bad } }, user.id)
  const [mail] = server.mails
  t.equal(mail?.to, user.email)
  t.notMatch(mail?.source.split('\r\n\r\n')[0], /^Bcc:/m)
  t.notOk(mail?.headers.has('bcc'))
  t.match(mail?.html, /&lt;script&gt;/)
  t.notMatch(mail?.html, /<script>/)
  const wrong = [
    'a@b\r\nBcc: c@d',
    'two@example.org,three@example.org',
    'x',
    '<a@b>',
    '"a b"@c',
    'a\0@b.c',
    `${'a'.repeat(65)}@b.c`,
    'a@b c'
  ]
  for (const address of wrong) {
    const sent = await send(address)
    t.match(await sent.now(), { state: 'failed', error: 'the address is not valid' }, JSON.stringify(address))
  }
  t.equal(server.mails.length, 1)
})

t.test('non-ASCII characters are encoded correctly, or the address is refused', async t => {
  const server = await smtpServer(t)
  sendTo(server.port)
  for (const address of ['jos@bücher.example', 'josé@example.org', "o'neil+x@example.org", '例え@例え.jp']) {
    t.match(await (await send(address)).now(), { state: 'sent' }, address)
    t.equal(server.mails.at(-1)?.to, address)
  }
  const old = await smtpServer(t, { hideSMTPUTF8: true })
  old.refuse.recipient = address =>
    /^\P{ASCII}|é@/u.test(address) ? '553 5.6.7 Non-ASCII address not supported' : null
  sendTo(old.port)
  t.match(await (await send('josé@example.org')).now(), { state: 'failed', error: /553 5\.6\.7/ })
  t.match(await (await send('jos@bücher.example')).now(), { state: 'sent' }, 'a domain has an ASCII form')
  t.match(await (await send('plain@example.org')).now(), { state: 'sent' }, 'other recipients get their mail')
})

t.test('sendmail gets the mail, and its exit code decides the result', async t => {
  const folder = t.testdir()
  const script = (name: string, text: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o700 })
    sendTo(1, { send_timeout: 1 }, { transport: 'sendmail', sendmail: { path: join(folder, name) } })
    noteServer(true)
  }
  script('good', `echo "$@" >${folder}/arguments; env >${folder}/environment; exec cat >${folder}/mail`)
  t.match(await (await send('ada@example.org')).now(), { state: 'sent' })
  t.equal(readFileSync(join(folder, 'arguments'), 'utf8'), '-i -f git@example.org ada@example.org\n')
  t.match(readFileSync(join(folder, 'mail'), 'utf8'), /^To: ada@example\.org$/m)
  t.notMatch(readFileSync(join(folder, 'environment'), 'utf8'), /GITSTEAD/)
  t.match(await (await send('-oQ@example.org')).now(), { state: 'failed', error: /option/ })

  const ends: readonly [text: string, now: object][] = [
    ['echo busy >&2; exit 75', { state: 'waiting', error: /ended with 75: busy/ }],
    ['exit 67', { state: 'failed', error: /67/ }],
    ['exit 1', { state: 'waiting', error: /ended with 1/ }],
    ['exec sleep 60', { state: 'waiting', error: /did not end in time/ }]
  ]
  for (const [at, [text, now]] of ends.entries()) {
    script(`end-${at}`, text)
    t.match(await (await send(`end-${at}@example.org`)).now(), now, text)
  }
})
