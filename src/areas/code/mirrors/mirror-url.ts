// The addresses of remotes: http, https and SSH, also in the short form of SSH (`git@example.org:group/project.git`).
import { isIPv6 } from 'node:net'
import { Invalid } from '../../../errors.js'
import { allowedRanges, checkLiteral, RefusedTarget } from '../../../webhooks/target.js'
import { urlProblem } from '../../projects/projects/pending-imports.js'

export interface MirrorAddress {
  readonly kind: 'http' | 'ssh'
  /** Without user and password for HTTP, and without a password for SSH. */
  readonly url: string
  /** Name or address, without brackets. */
  readonly host: string
  readonly port: number
  /** What identifies the server: another one must not get the password. */
  readonly server: string
  readonly username: string
  readonly password: string
  readonly path: string
}

const LONGEST = 2000
const SHORT = /^([^@/:\s]+)@(\[[0-9a-f:.]+\]|[^:/\s[\]]+):(?!\/\/)(.+)$/i
const SSH_USER = /^[a-z0-9_][a-z0-9._-]{0,63}$/i

/** Reads the address of a remote. Throws Invalid for one that mirrors cannot use or may not reach. Names are resolved later. */
export function readAddress(text: string): MirrorAddress {
  if (text.length > LONGEST) throw new Invalid('url', `is longer than ${LONGEST} characters`)
  if (/[\p{Cc}\s\\]/u.test(text)) throw new Invalid('url', 'has spaces, backslashes or control characters')
  const short = SHORT.exec(text)
  if (short && !text.includes('://')) {
    const [, user = '', host = '', path = ''] = short
    return sshAddress(text, { user, host, port: 22, path })
  }
  return /^ssh:\/\//i.test(text) ? readSsh(text) : readHttp(text)
}

function readHttp(text: string): MirrorAddress {
  const isHttp = /^https?:\/\//i.test(text)
  const problem = isHttp ? urlProblem(text) : 'must be an http, https or ssh URL, or USER@HOST:PATH'
  if (problem !== null) throw new Invalid('url', problem)
  const url = new URL(text)
  const [username, password] = [decode(url.username), decode(url.password)]
  url.username = url.password = ''
  const { href, hostname, port, protocol, origin, pathname } = url
  const host = withoutBrackets(hostname)
  const usual = protocol === 'https:' ? 443 : 80
  return {
    ...{ kind: 'http', url: href, host, port: Number(port || usual), server: origin },
    ...{ username, password, path: pathname }
  }
}

function readSsh(text: string): MirrorAddress {
  const problem = new Invalid('url', 'is no valid SSH URL: ssh://USER@HOST:PORT/PATH')
  if (!URL.canParse(text)) throw problem
  const { username, password, hostname, port, pathname, search, hash } = new URL(text)
  if (password !== '') throw new Invalid('url', 'has a password: mirrors use a key pair with SSH')
  if (search !== '' || hash !== '') throw new Invalid('url', 'must not have a query or a fragment')
  const path = decode(pathname)
  if (path.length < 2) throw problem
  // As git does: a path that begins with ~ is relative to a home.
  const sent = path.startsWith('/~') ? path.slice(1) : path
  return sshAddress(text, { user: decode(username) || 'git', host: hostname, port: Number(port || 22), path: sent })
}

interface SshParts {
  readonly user: string
  readonly host: string
  readonly port: number
  readonly path: string
}

function sshAddress(url: string, { user, host: named, port, path }: SshParts): MirrorAddress {
  const host = withoutBrackets(named).toLowerCase()
  if (!SSH_USER.test(user)) throw new Invalid('url', 'has no valid user')
  if (!isIPv6(host) && !/^[a-z0-9_][a-z0-9._-]*$/.test(host)) throw new Invalid('url', 'has no valid host')
  if (port < 1 || path.startsWith('-') || /\p{Cc}/u.test(path)) throw new Invalid('url', 'has no valid path or port')
  try {
    checkLiteral(host, allowedRanges())
  } catch (error) {
    if (!(error instanceof RefusedTarget)) throw error
    throw new Invalid('url', `leads to the private address ${error.address} (hooks.allow can allow it)`)
  }
  return { kind: 'ssh', url, host, port, server: `ssh://${host}:${port}`, username: user, password: '', path }
}

const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1')

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Invalid('url', 'has a wrong percent sign')
  }
}
