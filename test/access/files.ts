// Finds the expectations, which are next to the tests of their resources.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ResourceAccess } from './resource.js'

const tests = fileURLToPath(new URL('..', import.meta.url))

/** Returns the built test files whose names match, sorted. */
export const filesNamed = (pattern: RegExp): string[] =>
  (readdirSync(tests, { recursive: true }) as string[])
    .filter(path => pattern.test(path))
    .map(path => join(tests, path))
    .sort()

/** Returns the expectations of all resources. */
export async function allAccess(): Promise<ResourceAccess[]> {
  const found: ResourceAccess[] = []
  for (const path of filesNamed(/\.access\.js$/)) found.push((await import(pathToFileURL(path).href)).access)
  return found
}
