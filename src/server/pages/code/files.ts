// Pages of the files of a repository: folders, files, who wrote them, and a search in them.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { readBlame } from '../../../areas/code/browsing/blames.js'
import { findFileAt, kindAt, lastCommitAt, shownLines, textAt } from '../../../areas/code/browsing/file-texts.js'
import { readFolder } from '../../../areas/code/browsing/folders.js'
import { findRefPath, type RefPath } from '../../../areas/code/browsing/ref-paths.js'
import { searchCode } from '../../../areas/code/browsing/searches.js'
import { Type } from '../../../lib/type.js'
import { visible } from '../../../lib/visible.js'
import { show } from '../page-routes.js'
import { isKnownPage } from './fixed.js'
import { codePlace } from './places.js'
import { imageType, sendRaw } from './raw.js'

const FolderQuery = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })) })
const SearchQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 200 })),
  ref: Type.Optional(Type.String({ maxLength: 255 }))
})

export const filePages: FastifyPluginAsyncTypebox = async app => {
  const read = { config: { can: 'file.read' as const } }

  app.get('/:namespace/:project/tree/*', { ...read, schema: { querystring: FolderQuery } }, async (request, reply) => {
    const { project, query } = request
    if (project.default_branch === null) return show(request, reply, 'code/empty', { title: 'No files yet' })
    const found = await findRefPath(project, restOf(request))
    const place = codePlace(request, found)
    if ((await kindAt(found)) === 'blob') return reply.redirect(place.at('blob'))
    if (place.isFixed && (await isKnownPage(request, reply))) return reply
    const folder = await readFolder(found, { ...query, commits: place.may.commits })
    return show(request, reply, 'code/tree', {
      title: titleOf(found, place.refName),
      heading: headingOf(found),
      code: place,
      folder
    })
  })

  app.get('/:namespace/:project/blob/*', read, async (request, reply) => {
    const found = await findRefPath(request.project, restOf(request))
    const place = codePlace(request, found)
    if ((await kindAt(found)) === 'tree') return reply.redirect(place.at('tree'))
    const file = await findFileAt(found)
    if (place.isFixed && (await isKnownPage(request, reply))) return reply
    const text = await textAt(found, file)
    const [shown, last] = await Promise.all([
      text === null ? null : shownLines(file, text),
      place.may.commits ? lastCommitAt(found) : null
    ])
    const image = imageType(file.entry.name) !== null
    const page = {
      title: titleOf(found, place.refName),
      heading: headingOf(found),
      code: place,
      file,
      shown,
      last,
      image
    }
    return show(request, reply, 'code/blob', page)
  })

  app.get('/:namespace/:project/raw/*', read, async (request, reply) => {
    const found = await findRefPath(request.project, restOf(request))
    return sendRaw(reply, found, await findFileAt(found))
  })

  app.get('/:namespace/:project/blame/*', { config: { can: 'commit.read' } }, async (request, reply) => {
    const found = await findRefPath(request.project, restOf(request))
    const place = codePlace(request, found)
    const file = await findFileAt(found)
    if (place.isFixed && (await isKnownPage(request, reply))) return reply
    const text = await textAt(found, file)
    const [shown, ranges] = text === null ? [null, []] : await Promise.all([shownLines(file, text), readBlame(found)])
    const page = {
      title: `Blame of ${titleOf(found, place.refName)}`,
      heading: headingOf(found),
      code: place,
      file,
      shown,
      ranges
    }
    return show(request, reply, 'code/blame', page)
  })

  app.get('/:namespace/:project/search', { ...read, schema: { querystring: SearchQuery } }, async (request, reply) => {
    const { project, query, actor } = request
    const ref = query.ref ?? project.default_branch
    if (ref === null) return show(request, reply, 'code/empty', { title: 'No files yet' })
    const found = { ...(await findRefPath(project, ref)), path: '' }
    const text = (query.q ?? '').trim()
    const result = text === '' ? null : await searchCode(found, text, actor)
    return show(request, reply, 'code/search', {
      title: 'Search the code',
      code: codePlace(request, found),
      text,
      result
    })
  })
}

/** The end of the address: REF/PATH. */
const restOf = ({ params }: FastifyRequest): string => (params as { '*': string })['*']

const titleOf = ({ path }: RefPath, ref: string): string =>
  `${visible(path === '' ? 'Files' : path)} at ${visible(ref)}`
const headingOf = ({ path }: RefPath): string => visible(path.slice(path.lastIndexOf('/') + 1) || 'Files')
