// The program of the threads that hash uploads (hashing.ts).
import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { Answer, Message } from './hashing.js'

const hashes = new Map<number, Hash>()

parentPort?.on('message', ({ id, pieces, is }: Message) => {
  const hash = hashes.get(id) ?? createHash('sha256')
  if (is === 'dropped') return void hashes.delete(id)
  for (const piece of pieces) {
    hash.update(new Uint8Array(piece))
    // Otherwise the memory waits for the garbage collection of this thread.
    piece.transfer(0)
  }
  if (is === 'more') hashes.set(id, hash)
  else hashes.delete(id)
  parentPort?.postMessage({ id, ...(is === 'last' && { sha256: hash.digest('hex') }) } satisfies Answer)
})
