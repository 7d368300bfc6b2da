// Projects with files in LFS, without a client of git LFS.
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { findLinks, openObject, storeObject } from '../../../../src/areas/projects/lfs/objects.js'
import type { TestApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import { hashOf } from '../../../server/lfs/client.js'

export const pointerOf = (oid: string, size: number): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

/** Commits a file in LFS, and stores its object. Returns the hash. */
export async function addLfsFile(app: TestApp, project: TestProject, name: string, content: string): Promise<string> {
  const oid = hashOf(content)
  const size = Buffer.byteLength(content)
  await storeObject(project.id, { oid, size }, () => Readable.from([Buffer.from(content)]))
  await app.make.file(project, name, pointerOf(oid, size))
  return oid
}

/** Returns the contents of the objects that a project has, of those asked for; null for the others. */
export async function lfsContents(
  project: { readonly id: number },
  oids: readonly string[]
): Promise<(string | null)[]> {
  const links = await findLinks(project.id, oids)
  return Promise.all(
    oids.map(async oid => {
      if (!links.has(oid)) return null
      return String(await buffer((await openObject(project.id, oid, { direct: false })).stream))
    })
  )
}
