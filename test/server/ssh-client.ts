// The stock client of SSH, with keys of ssh-keygen.
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addKey } from '../../src/areas/people/users/keys.js'
import { someOrigin, type TestUser } from '../helpers/factory.js'
import { tryGit } from '../scenarios/client.js'

export interface Identity {
  /** The file of the private key. */
  readonly file: string
  readonly publicKey: string
}

let made = 0

/** Makes a key in a folder. */
export function makeIdentity(folder: string, kind: readonly string[] = ['-t', 'ed25519']): Identity {
  const file = join(folder, `id-${++made}`)
  execFileSync('ssh-keygen', ['-q', ...kind, '-N', '', '-C', 'test', '-f', file])
  return { file, publicKey: readFileSync(`${file}.pub`, 'utf8').trim() }
}

/** Makes a key and adds it to a user. */
export async function identityOf(folder: string, user: TestUser, kind?: readonly string[]): Promise<Identity> {
  const identity = makeIdentity(folder, kind)
  await addKey(user, { title: 'test', key: identity.publicKey }, someOrigin)
  return identity
}

/** The options of ssh that ignore the configuration of the machine. */
export const sshOptions = (file: string): string[] => [
  ...['-F', '/dev/null', '-i', file],
  ...[
    'IdentitiesOnly=yes',
    'BatchMode=yes',
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR'
  ]
    .concat(['IdentityAgent=none', 'ConnectTimeout=60'])
    .flatMap(option => ['-o', option])
]

/** Runs a stock git client over SSH. */
export const gitOverSsh = (cwd: string, { file }: Pick<Identity, 'file'>, args: readonly string[], extra = {}) =>
  tryGit(cwd, args, {
    GIT_SSH_COMMAND: ['ssh', ...sshOptions(file)].map(word => `'${word}'`).join(' '),
    GIT_SSH_VARIANT: 'ssh',
    ...extra
  })

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs ssh with a command, and ends its input at once. */
export function ssh(port: number, file: string, args: readonly string[], user = 'git'): Promise<Outcome> {
  return new Promise(resolve => {
    const all = [...sshOptions(file), '-p', String(port), `${user}@127.0.0.1`, ...args]
    const child = execFile('ssh', all, { timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr })
    )
    child.stdin?.end()
  })
}
