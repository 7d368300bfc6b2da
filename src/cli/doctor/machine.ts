// Checks what the machine provides: space on its disks, and an address to listen at.
import { type Disk, disksOfHome } from '../../areas/upkeep/maintenance/disks.js'
import { config } from '../../config.js'
import { embeddedState } from '../../db/embedded/embedded.js'
import { tryToListen } from '../../listening.js'
import { Ailment, type Check } from './check.js'

const MINIMUM_FREE = 1024 ** 3
const MINIMUM_INODES = 10_000

export const diskCheck: Check = {
  name: 'disk',
  about: 'every disk of the home has room for 1 GiB and 10,000 files',
  examine: () => {
    const disks = disksOfHome().map(disk => ({ folder: disk.folder, ...roomOn(disk) }))
    const text = disks.map(({ folder, words }) => (disks.length > 1 ? `${words} at ${folder}` : words)).join('; ')
    if (disks.every(({ enough }) => enough)) return text
    throw new Ailment(text, 'free some space: pushes and builds fail when the disk is full')
  }
}

function roomOn({ free, freeFiles }: Disk): { words: string; enough: boolean } {
  const names = freeFiles === null ? '' : `, ${freeFiles} files`
  return {
    words: `${(free / 1024 ** 3).toFixed(1)} GiB${names} free`,
    enough: free >= MINIMUM_FREE && (freeFiles === null || freeFiles >= MINIMUM_INODES)
  }
}

export const addressCheck: Check = {
  name: 'address',
  about: 'the server answers, or could listen at its configured address',
  examine: async ({ serverUp, serverUrl }) => {
    if (serverUp) return `the server answers at ${serverUrl}`
    const { host, port } = config()
    const { up, transient } = await embeddedState()
    if (config().database.url === null && up && !transient) {
      throw new Ailment(
        'the appliance runs, but its server does not answer',
        'read the log of the appliance, and restart it'
      )
    }
    if (port === 0) return 'down; it may use any free port'
    const error = await tryToListen(host, port)
    if (error === null) return `down; ${host}:${port} is free`
    const code = error.code ?? error.message
    throw new Ailment(`cannot listen at ${host}:${port}: ${code}`, REMEDIES[code] ?? 'choose another host or port')
  }
}

const REMEDIES: { readonly [code: string]: string } = {
  EADDRINUSE: 'another program listens there: stop it, or choose another port',
  EACCES: 'only root may use ports below 1024: choose another port, or give the service CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'this machine has no such address: choose another host'
}
