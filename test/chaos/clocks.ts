// The clocks of the parts of a cluster, which differ by minutes. Times of files come from the kernel.
import type { PartName } from './network.js'

const CLOCKS: Readonly<Partial<Record<PartName, string>>> = { app2: '+300s', db2: '+240s', db3: '-120s' }

/** Returns the variables of the environment that give a part its clock. */
export function clockOf(part: PartName): Readonly<Record<string, string>> {
  const clock = CLOCKS[part]
  if (clock === undefined) return {}
  return {
    LD_PRELOAD: '/usr/$LIB/faketime/libfaketimeMT.so.1',
    FAKETIME: clock,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1'
  }
}
