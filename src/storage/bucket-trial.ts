// Tries everything that the appliance needs of the bucket, with an object of its own.
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { config } from '../config.js'
import { Failure } from '../errors.js'
import type { ChooseRange } from '../lib/byte-range.js'
import { makeFolderOf, removeFile } from './files.js'
import { listObjects, openObject, putObject, removeObject } from './s3.js'

export const TRIALS = ['write', 'read', 'range', 'list', 'delete'] as const

/** A step of the trial failed. `reason` is the fault of the bucket, or says what its answer has wrong. */
export class TrialFailed extends Failure {
  constructor(
    readonly step: (typeof TRIALS)[number],
    readonly reason: Error
  ) {
    super(`${step} failed: ${reason.message}`)
  }
}

/** Writes, reads, lists and deletes an object. Throws TrialFailed at the first step that fails. */
export async function tryBucket(): Promise<void> {
  const name = `trials/${randomUUID()}`
  const content = `gitstead doctor ${name}\n`
  const path = join(config().home, 'tmp', `trial-${randomUUID()}`)
  const step = async (which: (typeof TRIALS)[number], work: () => Promise<void>) => {
    await work().catch(error => {
      throw new TrialFailed(which, error as Error)
    })
  }
  await makeFolderOf(path)
  await writeFile(path, content)
  try {
    await step('write', () => putObject(name, path, content.length))
    try {
      await step('read', () => requireContent(name, content))
      await step('range', () => requireContent(name, content.slice(4, 10), () => ({ start: 4, end: 9 })))
      await step('list', () => requireListed(name))
    } finally {
      await step('delete', () => removeObject(name))
    }
    await step('delete', () => requireGone(name))
  } finally {
    await removeFile(path)
  }
}

async function requireContent(name: string, wanted: string, choose?: ChooseRange): Promise<void> {
  const found = await openObject(name, choose)
  if (!found) throw new Failure('the object that was written does not exist')
  if ((await text(found.stream)) !== wanted) throw new Failure('the service returned other bytes')
}

async function requireListed(name: string): Promise<void> {
  for await (const page of listObjects(name)) if (page.some(object => object.name === name)) return
  throw new Failure('the object that was written is not in the list')
}

async function requireGone(name: string): Promise<void> {
  const found = await openObject(name)
  found?.stream.destroy()
  if (found) throw new Failure('the object still exists')
}
