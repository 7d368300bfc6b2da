// Checks what the machine provides: room on its disks, and an address to listen at.
import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { config, publicUrl } from '../../config.js'
import { embeddedState } from '../../db/embedded.js'
import { HOME_FOLDERS } from '../../home.js'
import { tryToListen } from '../../listening.js'
import { serverUrl } from '../read-status.js'
import { Ailment, type Check } from './check.js'

const MINIMUM_FREE = 1024 ** 3
const MINIMUM_INODES = 10_000

export const diskCheck: Check = {
  name: 'disk',
  about: 'every disk of the home has room for 1 GiB and 10,000 files',
  examine: () => {
    const disks = disksOf(config().home).map(folder => ({ folder, ...roomOf(folder) }))
    const text = disks.map(({ folder, words }) => (disks.length > 1 ? `${words} at ${folder}` : words)).join('; ')
    if (disks.every(({ enough }) => enough)) return text
    throw new Ailment(text, 'free some room: pushes and builds fail when the disk is full')
  }
}

/** One folder of the home for each disk: a sysadmin may mount or link some folders elsewhere. */
function disksOf(home: string): string[] {
  let folder = home
  while (!existsSync(folder)) folder = dirname(folder)
  const all = [folder, ...HOME_FOLDERS.map(name => join(home, name)).filter(path => existsSync(path))]
  return [...new Map(all.reverse().map(path => [statSync(path).dev, path])).values()].reverse()
}

function roomOf(folder: string): { words: string; enough: boolean } {
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  const free = bavail * bsize
  // Some file systems, such as btrfs, do not limit the number of files and report 0.
  const enoughFiles = files === 0 || ffree >= MINIMUM_INODES
  const names = files === 0 ? '' : `, ${ffree} files`
  return { words: `${(free / 1024 ** 3).toFixed(1)} GiB${names} free`, enough: free >= MINIMUM_FREE && enoughFiles }
}

export const addressCheck: Check = {
  name: 'address',
  about: 'the server answers, or could listen at its configured address',
  examine: async ({ serverUp }) => {
    if (serverUp) return `the server answers at ${serverUrl()}`
    const { host, port } = config()
    const { up, transient } = await embeddedState()
    if (config().database.url === null && up && !transient) {
      throw new Ailment(
        `the appliance runs, but no server answers at ${serverUrl()}`,
        'read the log of the appliance, and restart it'
      )
    }
    if (port === 0) return 'down; it may use any free port'
    const error = await tryToListen(host, port)
    if (error === null) return `down; ${host}:${port} is free`
    const code = error.code ?? error.message
    throw new Ailment(`nothing can listen at ${host}:${port}: ${code}`, REMEDIES[code] ?? 'choose another host or port')
  }
}

const REMEDIES: { readonly [code: string]: string } = {
  EADDRINUSE: 'another program listens there: stop it, or choose another port',
  EACCES: 'only root may use ports below 1024: choose another port, or give the service CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'this machine has no such address: choose another host'
}

export const urlCheck: Check = {
  name: 'url',
  about: 'users can reach the URL that the appliance shows them',
  examine: () => {
    const { host, url } = config()
    if (url === null && ['0.0.0.0', '::', ''].includes(host)) {
      throw new Ailment(`users see the URL ${publicUrl()}, which they cannot reach`, 'set url in config.yaml')
    }
    return `users see the URL ${publicUrl()}`
  }
}
