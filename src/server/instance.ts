// Identifies the server that answers: commands find their own server by it, and never mistake another program at its port for it.
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../config.js'
import { isDiskFull } from '../lib/disk-full.js'
import { log } from '../log.js'

/** The header of health answers. It means nothing to anybody who cannot read the home. */
export const INSTANCE_HEADER = 'x-gitstead-instance'

/** Differs for each process. */
export const instance = randomUUID()

const file = () => join(config().home, 'run/server.json')

/**
 * Writes the address to a file, so that commands find a server whose port came from a flag. A full disk must not keep a
 * server from starting: reads still work.
 */
export function noteAddress(port: number, sshPort?: number): void {
  const ssh = sshPort === undefined ? {} : { ssh_port: sshPort }
  try {
    writeFileSync(file(), JSON.stringify({ host: config().host, port, ...ssh, pid: process.pid, instance }))
  } catch (error) {
    if (!isDiskFull(error)) throw error
    log().warn({ file: file() }, 'the disk is full: commands cannot find this server')
  }
}

/** Removes the file when this server stops, unless a newer server has written it. */
export function forgetAddress(): void {
  try {
    const noted = JSON.parse(readFileSync(file(), 'utf8')) as { instance?: string }
    if (noted.instance === instance) rmSync(file(), { force: true })
  } catch {
    // Without a readable file there is nothing to remove.
  }
}
