// Pages of the files of a repository: folders, files, who wrote them, and a search in them.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { readBlame } from '../../../areas/code/browsing/blames.js'
import {
  findFileAt,
  kindAt,
  LONGEST_TEXT,
  lastCommitAt,
  lfsObjectAt,
  shownLines,
  textAt
} from '../../../areas/code/browsing/file-texts.js'
import { readFolder } from '../../../areas/code/browsing/folders.js'
import { findRefPath, type RefPath } from '../../../areas/code/browsing/ref-paths.js'
import { findPaths, searchCode } from '../../../areas/code/browsing/searches.js'
import { Type } from '../../../lib/type.js'
import { visible } from '../../../lib/visible.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { isMarkdown, renderedText } from '../text/readme.js'
import { isKnownPage } from './fixed.js'
import { codePath, codePlace, otherRefs, restOf } from './places.js'
import { imageType, sendLarge, sendRaw } from './raw.js'

const FolderQuery = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })) })
const FileQuery = Type.Object({ plain: Type.Optional(Type.Boolean()) })
const SwitchQuery = Type.Object({
  ref: Type.String({ minLength: 1, maxLength: 255 }),
  page: Type.Optional(Type.Enum(['tree', 'blob', 'blame', 'commits'])),
  path: Type.Optional(Type.String({ maxLength: 4096 }))
})
const SearchQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 200 })),
  ref: Type.Optional(Type.String({ maxLength: 255 }))
})

export const filePages: FastifyPluginAsyncTypebox = async app => {
  const read = { config: { can: 'file.read' as const } }

  app.get('/:namespace/:project/tree/*', { ...read, schema: { querystring: FolderQuery } }, async (request, reply) => {
    const { project, query } = request
    if (project.default_branch === null) return showEmpty(request, reply)
    const found = await findRefPath(project, restOf(request))
    const place = codePlace(request, found)
    if ((await kindAt(found)) === 'blob') return reply.redirect(place.at('blob'))
    const folder = await readFolder(found, { ...query, commits: place.may.commits })
    const readme = folder.readme && (await renderedText(request, found, folder.readme))
    if (place.isFixed && (await isKnownPage(request, reply, readme ?? ''))) return reply
    const page = { title: titleOf(found, place.refName), heading: headingOf(found), code: place, folder, readme }
    return show(request, reply, 'code/tree', { ...page, refs: await otherRefs(request, place), part: 'tree' })
  })

  app.get('/:namespace/:project/blob/*', { ...read, schema: { querystring: FileQuery } }, async (request, reply) => {
    const found = await findRefPath(request.project, restOf(request))
    const place = codePlace(request, found)
    if ((await kindAt(found)) === 'tree') return reply.redirect(place.at('tree'))
    const file = await findFileAt(found)
    const large = await lfsObjectAt(request.project, found, file)
    const text = large ? null : await textAt(found, file)
    const rendered =
      text === null || request.query.plain ? null : await renderedText(request, found, { path: found.path, text })
    if (place.isFixed && (await isKnownPage(request, reply, rendered ?? ''))) return reply
    const [shown, last] = await Promise.all([
      text === null ? null : shownLines(file.entry, text),
      place.may.commits ? lastCommitAt(found) : null
    ])
    const about = {
      image: imageType(file.entry.name) !== null,
      isText: isMarkdown(found.path),
      isTooLarge: file.size > LONGEST_TEXT,
      isLarge: large !== null
    }
    const sized = large ? { ...file, size: large.size } : file
    const page = {
      title: titleOf(found, place.refName),
      heading: headingOf(found),
      code: place,
      file: sized,
      shown,
      last
    }
    return show(request, reply, 'code/blob', {
      ...{ ...page, ...about, rendered },
      ...{ refs: await otherRefs(request, place), part: 'blob' }
    })
  })

  app.get('/:namespace/:project/raw/*', read, async (request, reply) => {
    const found = await findRefPath(request.project, restOf(request))
    const file = await findFileAt(found)
    const large = await lfsObjectAt(request.project, found, file)
    return large
      ? sendLarge(reply, request.project.id, { name: file.entry.name, ...large })
      : sendRaw(reply, found, file)
  })

  app.get('/:namespace/:project/blame/*', { config: { can: 'commit.read' } }, async (request, reply) => {
    const found = await findRefPath(request.project, restOf(request))
    const place = codePlace(request, found)
    const file = await findFileAt(found)
    if (place.isFixed && (await isKnownPage(request, reply))) return reply
    const text = await textAt(found, file)
    const [shown, ranges] =
      text === null ? [null, []] : await Promise.all([shownLines(file.entry, text), readBlame(found)])
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

  app.get(
    '/:namespace/:project/switch',
    { ...read, schema: { querystring: SwitchQuery } },
    async ({ project, query }, reply) => {
      const { ref, path = '', page = 'tree' } = query
      const found = await findRefPath(project, ref)
      const exists = page === 'commits' || (await kindAt({ ...found, path })) !== null
      return reply.redirect(codePath(projectPath(project), exists ? page : 'tree', ref, exists ? path : ''))
    }
  )

  app.get('/:namespace/:project/search', { ...read, schema: { querystring: SearchQuery } }, async (request, reply) => {
    const { project, query, actor } = request
    const ref = query.ref ?? project.default_branch
    if (ref === null) return showEmpty(request, reply)
    const found = { ...(await findRefPath(project, ref)), path: '' }
    const text = (query.q ?? '').trim()
    const [result, paths] =
      text === '' ? [null, []] : await Promise.all([searchCode(found, text, actor), findPaths(found, text)])
    const code = codePlace(request, found)
    return show(request, reply, 'code/search', { title: 'Search the code', code, text, result, paths })
  })
}

const titleOf = ({ path }: RefPath, ref: string): string =>
  `${visible(path === '' ? 'Files' : path)} at ${visible(ref)}`
const headingOf = ({ path }: RefPath): string => visible(path.slice(path.lastIndexOf('/') + 1) || 'Files')

const showEmpty = (request: FastifyRequest, reply: FastifyReply) =>
  show(request, reply, 'code/empty', {
    title: 'No files yet',
    mayWrite: may(request.actor, 'repository.write', request.project)
  })
