// Short calls to the file system for loose objects. Node.js hands each to another thread, and wakes this one when it is done: 50 to
// 250 us of processor for what takes 5 to 30 when it is done at once, because what was written lately lies in the memory of the
// system. So they are done at once, but not where that holds up others. (Pieces of packs are read by other threads: there nothing
// was gained.)
//
// 1. A call that took long, because it waited for the disk, sends all calls to other threads for a second.
// 2. Calls that took long together, in one turn of the event loop, send the rest of the turn there.
import {
  close,
  closeSync,
  fstat,
  fstatSync,
  open,
  openSync,
  read,
  readSync,
  rename,
  renameSync,
  write,
  writeSync
} from 'node:fs'
import { promisify } from 'node:util'

/** Milliseconds. A disk without moving parts answers in 0.1. */
const LONG = 1
/** Milliseconds for which calls go to other threads after a long one. */
const CAREFUL_FOR = 1000
/** Bytes. More take as long as another thread costs. */
const LARGE = 131_072
/** Milliseconds that calls of one turn may take together. */
const MOST_OF_TURN = 2

let carefulUntil = 0
let spent = 0

function timed<Args extends unknown[], Result>(call: (...args: Args) => Result) {
  return (...args: Args): Result => {
    const began = performance.now()
    try {
      return call(...args)
    } finally {
      const ended = performance.now()
      if (ended - began > LONG) carefulUntil = ended + CAREFUL_FOR
      if (spent === 0) setImmediate(endTurn)
      spent += ended - began
    }
  }
}

function endTurn(): void {
  spent = 0
}

interface Calls {
  open(path: string, flags: string, mode?: number): number | Promise<number>
  /** Returns how many bytes it read. */
  read(file: number, bytes: Buffer, length: number, position: number): number | Promise<number>
  /** Returns how many bytes it wrote. */
  write(file: number, bytes: Buffer, from: number): number | Promise<number>
  size(file: number): number | Promise<number>
  rename(from: string, to: string): void | Promise<void>
  close(file: number): void | Promise<void>
}

const atOnce: Calls = {
  open: timed((path, flags, mode) => openSync(path, flags, mode)),
  read: timed((file, bytes, length, position) => readSync(file, bytes, 0, length, position)),
  write: timed((file, bytes, from) => writeSync(file, bytes, from, bytes.length - from, from)),
  size: timed(file => fstatSync(file).size),
  rename: timed((from, to) => renameSync(from, to)),
  close: timed(file => closeSync(file))
}

const other = {
  open: promisify(open),
  read: promisify(read),
  write: promisify(write),
  size: promisify(fstat),
  rename: promisify(rename),
  close: promisify(close)
}

const elsewhere: Calls = {
  open: other.open,
  read: async (file, bytes, length, position) => (await other.read(file, bytes, 0, length, position)).bytesRead,
  write: async (file, bytes, from) => (await other.write(file, bytes, from, bytes.length - from, from)).bytesWritten,
  size: async file => (await other.size(file)).size,
  rename: other.rename,
  close: other.close
}

/**
 * Returns how the next call is made: at once, or by another thread. Await its result, and ask again for each call, with the bytes
 * that it reads or writes. The calls throw, or reject, as those of node:fs.
 */
export function files(bytes = 0): Calls {
  return bytes > LARGE || spent > MOST_OF_TURN || performance.now() < carefulUntil ? elsewhere : atOnce
}

/** Sends all calls to other threads for a second: for tests. */
export function beCareful(): void {
  carefulUntil = performance.now() + CAREFUL_FOR
}
