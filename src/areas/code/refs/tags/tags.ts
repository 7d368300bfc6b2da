// Tags of the API ("Tags and releases").
import { createHash } from 'node:crypto'
import { type Origin, requireAsker } from '../../../../access/actor.js'
import { NotAllowed, NotFound, NotFoundAs } from '../../../../errors.js'
import { readCommit, readTag } from '../../../../git/objects/objects.js'
import { objectInfo } from '../../../../git/objects/reader.js'
import {
  isNewRefName,
  RefBlocked,
  RefMoved,
  RefWithoutObject,
  refValue,
  resolveCommit,
  ZERO
} from '../../../../git/refs/refs.js'
import { prepareTag } from '../../../../git/write/write.js'
import { ensureRepository, repositoryPath } from '../../../projects/projects/repositories.js'
import { type MovableProject, moveRefs } from '../move-refs.js'
import { type NamedRef, namedRefs } from '../ref-names.js'
import { createRelease } from './releases.js'
import { findReleases, releasesVersion } from './releases.queries.js'
import type { NewTag } from './tags.schema.js'
import type { TagRow } from './tags.view.js'

/** Finds a tag. Throws NotFound. */
export async function findTag(project: MovableProject, name: string): Promise<TagRow> {
  const repository = repositoryPath(project)
  const id = await refValue(repository, `refs/tags/${name}`)
  if (id === null) throw new NotFound('Tag')
  const commit = await objectInfo(repository, `${id}^{commit}`)
  // An annotated tag of a tree or a file also has a message.
  const target = commit?.id ?? (await readTag(repository, id))?.targetId ?? id
  const [tag] = await readTags(project, [{ name, id, target }])
  if (!tag) throw new NotFound('Tag')
  return tag
}

/** Lists the tags by name in descending order, with a text that changes with everything that the list shows. */
export async function listTags(project: MovableProject): Promise<{ tags: readonly NamedRef[]; version: string }> {
  const [found, releases] = await Promise.all([namedRefs(project, 'refs/tags/'), releasesVersion(project.id)])
  const version = createHash('sha1').update(releases)
  for (const { name, id } of found) version.update(`${id} ${name}\n`)
  return { tags: [...found].reverse(), version: version.digest('hex') }
}

/** Reads some tags with their messages, commits and release notes. */
export async function readTags(project: MovableProject, tags: readonly NamedRef[]): Promise<TagRow[]> {
  const repository = repositoryPath(project)
  const releases = await findReleases(
    project.id,
    tags.map(({ name }) => name)
  )
  return Promise.all(
    tags.map(async ({ name, id, target }) => {
      // Only an annotated tag points at something other than its value.
      const [tag, commit] = await Promise.all([
        id === target ? null : readTag(repository, id),
        readCommit(repository, target)
      ])
      return { name, message: tag?.message ?? null, commit, release: releases.get(name) }
    })
  )
}

/** Creates a tag. Throws NotAllowed with the reason: the requirement returns 405 ("Tag creation error"). */
export async function createTag(project: MovableProject, input: NewTag, origin: Origin): Promise<TagRow> {
  const { tag_name: name, release_description: notes } = input
  const ref = `refs/tags/${name}`
  if (!isNewRefName(ref)) throw new NotAllowed('Tag name invalid')
  const repository = await ensureRepository(project)
  if ((await refValue(repository, ref)) !== null) throw new NotAllowed(`Tag ${name} already exists`)
  const target = await resolveCommit(repository, input.ref)
  if (!target) throw new NotAllowed(`Target ${input.ref} is invalid`)
  const { id, write } = tagValue(repository, target.id, input, origin)
  try {
    await moveRefs(project, [{ ref, old: ZERO, new: id }], origin, { write })
  } catch (error) {
    if (error instanceof RefMoved) throw new NotAllowed(`Tag ${name} already exists`)
    if (error instanceof RefWithoutObject) throw new NotAllowed(`Target ${input.ref} is invalid`)
    if (error instanceof RefBlocked) {
      throw new NotAllowed('Tag name invalid: it conflicts with the name of another tag')
    }
    throw error
  }
  if (notes) await createRelease(project, name, notes)
  return findTag(project, name)
}

function tagValue(repository: string, target: string, { tag_name: name, message }: NewTag, origin: Origin) {
  if (!message) return { id: target, write: undefined }
  const { name: person, email } = requireAsker(origin)
  const tagger = { name: person, email, date: new Date() }
  return prepareTag(repository, { name, target, targetType: 'commit', message, tagger })
}

/** Deletes a tag with its release notes. Throws NotFoundAs. */
export async function deleteTag(project: MovableProject, name: string, origin: Origin): Promise<void> {
  const repository = repositoryPath(project)
  const ref = `refs/tags/${name}`
  for (let tries = 1; ; tries++) {
    const id = await refValue(repository, ref)
    if (id === null) throw new NotFoundAs('No such tag')
    try {
      return await moveRefs(project, [{ ref, old: id, new: ZERO }], origin)
    } catch (error) {
      if (!(error instanceof RefMoved) || tries === 5) throw error
    }
  }
}
