// The form of a snippet of a project or of a user, and the page that shows one.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { shownLines } from '../../../areas/code/browsing/file-texts.js'
import { findSnippet, type SnippetRow, snippetContent } from '../../../areas/projects/snippets/snippets.queries.js'
import { Stale } from '../../../errors.js'
import { type Static, Type } from '../../../lib/type.js'
import { show } from '../page-routes.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { isMarkdown } from '../text/readme.js'
import { textsHtml } from '../text/texts.js'

const text = (maxLength: number) => Type.String({ maxLength, default: '' })

/** The rules for snippets check what is too long or missing, so that the form is shown again with the problem. */
export const SnippetForm = Type.Object({
  title: text(1024),
  file_name: text(1024),
  content: text(1_100_000),
  visibility_level: Type.Enum([0, 10, 20]),
  /** When the snippet had last changed as the form was opened. */
  version: Type.Optional(Type.String({ maxLength: 40 }))
})
export type SnippetForm = Static<typeof SnippetForm>

export const SnippetPlace = Type.Object({ snippet_id: Type.Integer({ minimum: 1, maximum: 4_294_967_295 }) })

interface FormPage {
  /** The path to which the form posts. */
  readonly action: string
  readonly back: string
  /** The snippet that changes; without one, the form makes a new one. */
  readonly snippet?: SnippetRow
  readonly values: Partial<SnippetForm>
  readonly refusals?: Refusals
  /** The text that the snippet has now, if somebody changed it in the meantime. */
  readonly current?: string
}

export const showSnippetForm = (request: FastifyRequest, reply: FastifyReply, page: FormPage): Promise<FastifyReply> =>
  show(request, reply, 'projects/snippet-form', {
    ...page,
    title: page.snippet ? `Edit ${page.snippet.title}` : 'New snippet',
    version: page.snippet?.updated_at.toISOString()
  })

/** Saves the form by `save`, and leads to the page of the snippet; shows the form again when a rule refuses its values. */
export async function saveSnippet(
  request: FastifyRequest,
  reply: FastifyReply,
  page: FormPage,
  save: (values: SnippetForm) => Promise<string>
): Promise<FastifyReply> {
  const { version, ...values } = request.body as SnippetForm
  // Browsers send the line ends of a form as two characters.
  const written = { ...values, content: values.content.replaceAll('\r\n', '\n') }
  try {
    if (page.snippet && version !== page.snippet.updated_at.toISOString()) throw new Stale()
    return reply.redirect(await save(written), 303)
  } catch (error) {
    if (error instanceof Stale && page.snippet)
      return showStale(request, reply, { ...page, values: written }, page.snippet)
    return showSnippetForm(request, reply.code(400), { ...page, values: written, refusals: refusalsOf(error) })
  }
}

/** Shows what was entered, and the snippet as it is now. */
async function showStale(request: FastifyRequest, reply: FastifyReply, page: FormPage, { id }: SnippetRow) {
  const [snippet, current] = await Promise.all([findSnippet(id), snippetContent(id)])
  return showSnippetForm(request, reply.code(409), { ...page, ...(snippet && { snippet }), current })
}

/** Returns what the page of a snippet shows of its text: Markdown is formatted, other languages have colours. */
export async function readSnippetPage({ actor, project }: FastifyRequest, snippet: SnippetRow) {
  const content = await snippetContent(snippet.id)
  const page = { title: snippet.title, snippet }
  if (isMarkdown(snippet.file_name)) return { ...page, html: (await textsHtml([content], { actor, project }))[0] }
  const id = createHash('sha1').update(content).digest('hex')
  return { ...page, shown: await shownLines({ id, name: snippet.file_name }, content) }
}
