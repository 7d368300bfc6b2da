// Identifies the server that answers: commands find their own server by it, and never mistake another program at its port for it.
import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../config.js'
import { isDiskFull } from '../lib/disk-full.js'
import { log } from '../log.js'

/** The header of health answers. It means nothing to anybody who cannot read the home. */
export const INSTANCE_HEADER = 'x-gitstead-instance'

/** Differs for each process. */
export const instance = randomUUID()

const file = () => join(config().home, 'run/server.json')

/** Bytes. The file keeps this size, so that its place on the disk is enough for the next server. */
const SIZE = 512

/**
 * Writes the address to a file, so that commands find a server whose port came from a flag. A full disk must not keep a
 * server from starting: reads still work. So it overwrites the file of an earlier server in place.
 */
export function noteAddress(port: number, sshPort?: number): void {
  const ssh = sshPort === undefined ? {} : { ssh_port: sshPort }
  try {
    overwrite({ host: config().host, port, ...ssh, pid: process.pid, instance })
  } catch (error) {
    if (!isDiskFull(error)) throw error
    log().warn({ file: file() }, 'the disk is full: commands cannot find this server')
  }
}

function overwrite(value: object): void {
  const opened = openSync(file(), constants.O_RDWR | constants.O_CREAT, 0o600)
  try {
    writeSync(opened, JSON.stringify(value).padEnd(SIZE), 0)
  } finally {
    closeSync(opened)
  }
}

/** Empties the file when this server stops, unless a newer server has written it. */
export function forgetAddress(): void {
  try {
    const noted = JSON.parse(readFileSync(file(), 'utf8')) as { instance?: string }
    if (noted.instance === instance) overwrite({})
  } catch {
    // Without a readable file there is nothing to forget.
  }
}
