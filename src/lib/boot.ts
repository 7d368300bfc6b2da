import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Identifies this boot of the kernel and the namespace of processes: a pid refers to the same process for two processes only when
 * this value is equal.
 */
export const bootName = (): string => {
  boot ??= readBoot()
  return boot
}

/** Cached, because it does not change while this process runs. */
let boot: string | undefined

function readBoot(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}
