// How git talks to a repository at a URL: only through the gateway that checks addresses, without passwords in arguments, and with
// limits on idle time.
import { IGNORED_FAULTS, settingsWith } from '../process/environment.js'
import { runGit } from '../process/run.js'

/** A repository elsewhere. */
export interface Remote {
  /** Contains no user and no password. */
  readonly url: string
  readonly username: string
  readonly password: string
  /** The proxy for all http and https connections. */
  readonly proxy: string
  /** The host that git:// sends to the server. */
  readonly host: string
  /** The limit for each git process, in seconds. */
  readonly timeout: number
  /** Seconds after which an HTTP server that sends almost nothing is given up; the default is 60. */
  readonly idle?: number
  /** All work for one server shares the slots of git that this client gets. */
  readonly client?: string
  readonly signal: AbortSignal
}

/** The name of the remote in the settings of a process. */
export const REMOTE = 'import'

/**
 * Git calls this helper when the server asks for a password. The user and the password do not appear in arguments,
 * which other users of the machine can see.
 */
const HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$GITSTEAD_IMPORT_USER" "$GITSTEAD_IMPORT_PASSWORD"; }; f'

/** Returns the environment of a git process that talks to a remote. */
export function environmentFor({ url, username, password, proxy, host, idle = 60 }: Remote): Record<string, string> {
  const { origin, protocol } = new URL(url)
  const settings: [string, string][] = [
    [`remote.${REMOTE}.url`, url],
    ['protocol.allow', 'never'],
    ...['http', 'https', 'git'].map((name): [string, string] => [`protocol.${name}.allow`, 'always']),
    ['http.proxy', proxy],
    ['http.proxyAuthMethod', 'basic'],
    ['http.lowSpeedLimit', '1000'],
    ['http.lowSpeedTime', String(idle)],
    // Data from other servers is checked like a push.
    ['fetch.fsckObjects', 'true'],
    ...IGNORED_FAULTS.map((name): [string, string] => [`fetch.fsck.${name}`, 'ignore']),
    ['fetch.unpackLimit', '1']
  ]
  // Only for this origin: when a server redirects git to another one, the password is not sent there.
  if (protocol !== 'git:' && (username !== '' || password !== ''))
    settings.push([`credential.${origin}.helper`, HELPER])
  return {
    ...settingsWith(settings),
    GIT_ALLOW_PROTOCOL: 'http:https:git',
    GIT_OVERRIDE_VIRTUAL_HOST: host,
    GITSTEAD_IMPORT_USER: username,
    GITSTEAD_IMPORT_PASSWORD: password
  }
}

/** The branches and tags of a remote. */
export interface RemoteRefs {
  /** The values by full name. Names that are not UTF-8 contain U+FFFD. */
  readonly refs: ReadonlyMap<string, string>
  /** The branch that its HEAD names, or null. */
  readonly head: string | null
}

/** Bytes: about 400,000 branches and tags. */
const LONGEST_LIST = 32 * 1024 * 1024
/** Seconds. A list needs no work of the server that would take longer. */
const LIST_TIMEOUT = 60

/** Lists the branches and tags of a remote. Throws GitFailure, also when there are too many. */
export async function listRemote(remote: Remote): Promise<RemoteRefs> {
  const listed = await runGit(['ls-remote', '--symref', REMOTE, 'HEAD', 'refs/heads/*', 'refs/tags/*'], {
    timeout: Math.min(remote.timeout, LIST_TIMEOUT),
    signal: remote.signal,
    environment: environmentFor({ ...remote, idle: Math.min(remote.idle ?? 60, LIST_TIMEOUT) }),
    maxOutput: LONGEST_LIST
  })
  const refs = new Map<string, string>()
  let head: string | null = null
  for (const line of listed.toString().split('\n')) {
    const [value = '', name = ''] = line.split('\t')
    if (name === 'HEAD') head = /^ref: refs\/heads\/(.+)$/.exec(value)?.[1] ?? head
    else if (name !== '' && !name.endsWith('^{}')) refs.set(name, value)
  }
  return { refs, head }
}
