// Checks git over SSH: the host key, and whether the server answers as an SSH server.
import { chmodSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { checkHostKeys } from '../../areas/projects/ssh/host-keys.js'
import { config, notedSshPort } from '../../config.js'
import { hostKeyPaths } from '../../home.js'
import { tryToListen } from '../../listening.js'
import { Ailment, type Check } from './check.js'

const PATIENCE = 3000

export const sshCheck: Check = {
  name: 'ssh',
  about: 'git over SSH answers, or could listen, and its host keys are whole and closed to other users',
  examine: async ({ serverUp }) => {
    const { ssh, host: httpHost, home } = config()
    if (!ssh.enabled) return 'switched off (ssh.enabled)'
    for (const path of hostKeyPaths()) examineKey(path)
    checkHostKeys()
    const host = ssh.host ?? httpHost
    if (serverUp) return answer(host, notedSshPort(home))
    if (!ssh.port) return 'down; it may use any free port'
    const error = await tryToListen(host, ssh.port)
    if (error)
      throw new Ailment(`git over SSH cannot listen at ${host}:${ssh.port}: ${error.code}`, 'choose another ssh.port')
    return `down; ${host}:${ssh.port} is free`
  },
  mend: () => {
    const open = hostKeyPaths().filter(isOpen)
    for (const path of open) chmodSync(path, 0o600)
    return `closed ${open.join(' and ') || 'nothing'} to other users`
  }
}

const isOpen = (path: string): boolean => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0

function examineKey(path: string): void {
  if (isOpen(path)) throw new Ailment(`${path} is open to other users`, `chmod 600 ${path}`)
  const owner = statSync(path, { throwIfNoEntry: false })?.uid
  if (owner !== undefined && owner !== process.getuid?.())
    throw new Ailment(`${path} belongs to user ${owner}`, 'chown it to the owner of the home')
}

async function answer(host: string, port: number | undefined): Promise<string> {
  if (port === undefined) return 'the server runs without SSH: restart it'
  const words = await greeting(host, port)
  if (words.startsWith('SSH-2.0-')) return `the server answers at ${host}:${port}`
  throw new Ailment(`no SSH server answers at ${host}:${port}`, 'read the log of the appliance, and restart it')
}

/** Returns the first bytes that the server sends; '' when it does not answer. */
function greeting(host: string, port: number): Promise<string> {
  return new Promise(resolve => {
    const socket = connect(port, host)
    const end = (text: string) => {
      socket.destroy()
      resolve(text)
    }
    socket.once('data', data => end(data.toString('latin1')))
    socket.once('error', () => end(''))
    socket.once('close', () => end(''))
    socket.setTimeout(PATIENCE, () => end(''))
  })
}
