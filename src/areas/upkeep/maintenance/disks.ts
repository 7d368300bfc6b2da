// Finds the disks of the home: a sysadmin may mount or link some of its folders elsewhere.
import { existsSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { config } from '../../../config.js'
import { HOME_FOLDERS } from '../../../home.js'

export interface Disk {
  /** `home`, or the name of the folder of the home that is on this disk. */
  readonly name: string
  readonly folder: string
  /** Bytes that the current user can still write, and the total of bytes. */
  readonly free: number
  readonly size: number
  /** How many files can still be created; null on a file system without a limit, such as btrfs. */
  readonly freeFiles: number | null
}

/** Returns each disk once, that of the home first. Before the home exists, it is the disk of the nearest parent folder. */
export function disksOfHome(): Disk[] {
  const { home } = config()
  let folder = home
  while (!existsSync(folder)) folder = dirname(folder)
  const all = [folder, ...HOME_FOLDERS.map(name => join(home, name)).filter(path => existsSync(path))]
  const folders = [...new Map(all.reverse().map(path => [statSync(path).dev, path])).values()].reverse()
  return folders.map(path => {
    const { bavail, blocks, bsize, files, ffree } = statfsSync(path)
    const name = path === folder ? 'home' : basename(path)
    return { name, folder: path, free: bavail * bsize, size: blocks * bsize, freeFiles: files === 0 ? null : ffree }
  })
}
