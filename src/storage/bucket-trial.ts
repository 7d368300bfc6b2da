// Tries everything that the appliance needs of the bucket, with an object of its own.
import { createHash, randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { config } from '../config.js'
import { Failure } from '../errors.js'
import type { ChooseRange } from '../lib/byte-range.js'
import { makeFolderOf, removeFile } from './files.js'
import { copyObject, headObject, listObjects, openObject, putChecked, putObject, removeObject } from './s3.js'

const TRIALS = ['write', 'read', 'range', 'list', 'delete'] as const
/** What clients that send files to the bucket need (lfs-uploads.ts). */
const DIRECT = ['copy', 'checksum'] as const
type Trial = (typeof TRIALS | typeof DIRECT)[number]

/** A step of the trial failed. `reason` is the fault of the bucket, or says what its answer has wrong. */
export class TrialFailed extends Failure {
  constructor(
    readonly step: Trial,
    readonly reason: Error
  ) {
    super(`${step} failed: ${reason.message}`)
  }
}

/**
 * Writes, reads, lists and deletes an object, and tries what direct uploads need if they are on. Returns what has worked. Throws
 * TrialFailed at the first step that fails.
 */
export async function tryBucket(): Promise<readonly string[]> {
  const name = `trials/${randomUUID()}`
  const content = `gitstead doctor ${name}\n`
  const path = join(config().home, 'tmp', `trial-${randomUUID()}`)
  const step = async (which: Trial, work: () => Promise<void>) => {
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
    if (!config().storage.s3.direct_uploads) return TRIALS
    let compares = false
    await step('copy', () => tryCopy(name, path, content))
    await step('checksum', async () => {
      compares = await tryChecksum(name, content)
    })
    return [...TRIALS, 'copy', compares ? 'checksum' : 'no checksum, so the server reads direct uploads once more']
  } finally {
    await removeFile(path)
  }
}

async function tryCopy(name: string, path: string, content: string): Promise<void> {
  const copy = `${name}-copy`
  try {
    await putObject(name, path, content.length)
    await copyObject(name, copy, content.length)
    await requireContent(copy, content)
  } finally {
    await removeObject(name)
    await removeObject(copy)
  }
}

/** Returns whether the service compares the content with its checksum. Throws Failure when it only says so: then anybody could forge files. */
async function tryChecksum(name: string, content: string): Promise<boolean> {
  const checksum = createHash('sha256').update(content).digest('base64')
  try {
    if (await putChecked(name, Buffer.from(content.toUpperCase()), checksum)) {
      const found = await headObject(name, { withHash: true })
      if (found?.sha256 !== checksum) return false
      throw new Failure('the service names a checksum that it has not compared: set storage.s3.direct_uploads to false')
    }
    if (!(await putChecked(name, Buffer.from(content), checksum)))
      throw new Failure('the service refuses the right checksum')
    return (await headObject(name, { withHash: true }))?.sha256 === checksum
  } finally {
    await removeObject(name)
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
