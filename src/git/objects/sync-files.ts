// Short calls to the file system for loose objects. Node.js passes each asynchronous call to another thread, which
// wakes this one at the end: 50 to 250 us of processor time for a call that takes 5 to 30 us synchronously, because
// recently written data is in the page cache. Therefore calls are synchronous, except where that holds up others.
// (Pieces of packs are read by other threads: synchronous calls gained nothing there.)
//
// 1. After some slow calls, which waited for the disk, all calls go to other threads for a second. One slow call proves nothing:
//    on a busy machine, another process may have taken the processor. A single one sent almost all calls elsewhere under load.
// 2. When the calls of one turn of the event loop took long together, the remaining calls of that turn go to other
//    threads.
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

/** Milliseconds. A solid-state disk answers in 0.1 ms. */
const LONG = 1
/** Milliseconds. A call that takes this long has waited for the disk. */
const VERY_LONG = 20
/** The disk is slow when so many of `LOOKED_AT` calls were slow. */
const MOST_SLOW = 3
const LOOKED_AT = 32
/** Milliseconds for which calls go to other threads after a slow call. */
const CAREFUL_FOR = 1000
/** Bytes. Reading or writing more takes as long as a switch to another thread. */
const LARGE = 131_072
/** Milliseconds that the calls of one turn may take together. */
const MOST_OF_TURN = 2

let carefulUntil = 0
let spent = 0
let calls = 0
let slow = 0

function timed<Args extends unknown[], Result>(call: (...args: Args) => Result) {
  return (...args: Args): Result => {
    const began = performance.now()
    try {
      return call(...args)
    } finally {
      const ended = performance.now()
      if (spent === 0) setImmediate(endTurn)
      spent += ended - began
      note(ended - began)
    }
  }
}

/** Notes how long a call took. */
export function note(milliseconds: number): void {
  if (calls++ === LOOKED_AT) [calls, slow] = [1, 0]
  if (milliseconds > LONG) slow++
  if (slow < MOST_SLOW && milliseconds <= VERY_LONG) return
  calls = slow = 0
  beCareful()
}

function endTurn(): void {
  spent = 0
}

interface Calls {
  open(path: string, flags: string, mode?: number): number | Promise<number>
  /** Returns the number of bytes read. */
  read(file: number, bytes: Buffer, length: number, position: number): number | Promise<number>
  /** Returns the number of bytes written. */
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
 * Returns the functions for the next call: synchronous, or in another thread. Await the result, and call `files` again
 * for each call, with the number of bytes to read or write. The functions throw or reject as node:fs does.
 */
export function files(bytes = 0): Calls {
  return bytes > LARGE || spent > MOST_OF_TURN || performance.now() < carefulUntil ? elsewhere : atOnce
}

/** Sends all calls to other threads for a second. */
export function beCareful(): void {
  carefulUntil = performance.now() + CAREFUL_FOR
}
