// Opens a connection to a directory, with TLS. ldapts could do this too, but its StartTLS keeps bytes that arrived before the
// encryption as the beginning of the next answer, so that an attacker in the network could answer the bind; it has no time limit;
// and after a lost connection it connects again without TLS and sends the next password in the clear.
import { readFile } from 'node:fs/promises'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { Ber, BerReader, BerWriter } from 'ldapts'
import type { Directory } from './directory.js'
import { DirectoryFailure } from './failure.js'

const START_TLS = '1.3.6.1.4.1.1466.20037'
/** Bytes of the answer to StartTLS, which has an empty message as a rule. */
const LONGEST_ANSWER = 4096
const [EXTENDED_REQUEST, EXTENDED_RESPONSE, REQUEST_NAME] = [0x77, 0x78, 0x80]
const MESSAGE_ID = 1

const PORTS: { readonly [protocol: string]: number } = { 'ldap:': 389, 'ldaps:': 636 }

const REMEDIES: { readonly [S in 'connect' | 'tls']: string } = {
  connect: 'check that the directory runs, its address in urls, and the firewall',
  tls: 'check ca, and that the certificate of the directory is valid for the host in urls'
}

/** Returns an open socket, encrypted unless the directory allows a plain one. Throws DirectoryFailure. */
export async function openSocket(directory: Directory, url: string): Promise<Socket> {
  const { protocol, hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const deadline = AbortSignal.timeout(directory.timeout * 1000)
  const fails =
    (step: 'connect' | 'tls', remedy = REMEDIES[step]) =>
    (error: Error) => {
      const reason = deadline.aborted ? `no answer within ${directory.timeout} s` : error.message
      return new DirectoryFailure(directory.name, step, `${url}: ${reason}`, remedy, true)
    }
  const socket = connect({ host, port: Number(port) || (PORTS[protocol] ?? 389) })
  await until(socket, 'connect', deadline, fails('connect'))
  if (protocol === 'ldap:' && !directory.starttls) return socket
  if (protocol === 'ldap:') {
    const refused = 'allow StartTLS in the directory, or use its ldaps:// address'
    await startTls(socket, deadline, fails('tls', refused))
  }
  const ca = await readCa(directory)
  const secure = connectTls({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca && { ca }),
    rejectUnauthorized: directory.verify,
    minVersion: 'TLSv1.2'
  })
  await until(secure, 'secureConnect', deadline, fails('tls'))
  return secure
}

async function readCa({ name, ca }: Directory): Promise<Buffer | undefined> {
  if (ca === null) return undefined
  return readFile(ca).catch(({ code }: NodeJS.ErrnoException) => {
    const remedy = 'correct ca, or make the file readable'
    throw new DirectoryFailure(name, 'tls', `${ca} cannot be read (${code})`, remedy, true)
  })
}

/** Waits for an event of a socket. A socket without it is destroyed. */
function until(
  socket: Socket | TLSSocket,
  event: 'connect' | 'secureConnect',
  deadline: AbortSignal,
  failure: (error: Error) => DirectoryFailure
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: Error) => {
      socket.off(event, right).off('close', closed)
      deadline.removeEventListener('abort', late)
      if (!error) return resolve()
      socket.destroy()
      reject(failure(error))
    }
    const right = () => end()
    const closed = () => end(new Error('the connection was closed'))
    const late = () => end(new Error('late'))
    // This listener stays: an error without a listener would end the process. The connection also emits `close`.
    socket.on('error', end)
    socket.once(event, right).once('close', closed)
    deadline.addEventListener('abort', late, { once: true })
    if (deadline.aborted) late()
  })
}

/** Asks for StartTLS. Every byte after the answer is an attempt to speak for the directory, and ends the connection. */
async function startTls(
  socket: Socket,
  deadline: AbortSignal,
  failure: (error: Error) => DirectoryFailure
): Promise<void> {
  socket.write(startTlsRequest())
  let received = Buffer.alloc(0)
  await new Promise<void>((resolve, reject) => {
    const end = (error?: Error) => {
      socket.off('data', read).off('close', closed).off('error', end).pause()
      deadline.removeEventListener('abort', late)
      if (!error) return resolve()
      socket.destroy()
      reject(failure(error))
    }
    const closed = () => end(new Error('the connection was closed instead of an answer to StartTLS'))
    const late = () => end(new Error('late'))
    const read = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const answer = readAnswer(received)
      if (answer === 'incomplete' && received.length < LONGEST_ANSWER) return
      end(answer === 'granted' ? undefined : new Error(WHY_NOT[answer]))
    }
    socket.on('data', read).once('close', closed).once('error', end)
    deadline.addEventListener('abort', late, { once: true })
  })
}

type Answer = 'granted' | 'refused' | 'incomplete' | 'wrong'

const WHY_NOT: { readonly [A in Exclude<Answer, 'granted'>]: string } = {
  refused: 'the directory refuses StartTLS',
  incomplete: 'the answer to StartTLS is too long',
  wrong: 'the answer to StartTLS is not one of LDAP, or more follows it'
}

function startTlsRequest(): Buffer {
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(MESSAGE_ID)
  writer.startSequence(EXTENDED_REQUEST)
  writer.writeString(START_TLS, REQUEST_NAME)
  writer.endSequence()
  writer.endSequence()
  return writer.buffer
}

function readAnswer(bytes: Buffer): Answer {
  try {
    const reader = new BerReader(bytes)
    const tag = reader.readSequence()
    if (tag === null || reader.remain < reader.length) return 'incomplete'
    if (tag !== (Ber.Sequence | Ber.Constructor) || reader.remain > reader.length) return 'wrong'
    if (reader.readInt() !== MESSAGE_ID || reader.readSequence() !== EXTENDED_RESPONSE) return 'wrong'
    return reader.readEnumeration() === 0 ? 'granted' : 'refused'
  } catch {
    return 'wrong'
  }
}
