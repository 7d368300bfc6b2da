import type { FastifyRequest } from 'fastify'
import type { RefPath } from '../../../areas/code/browsing/ref-paths.js'
import { textsHtml } from './texts.js'

export const isMarkdown = (path: string): boolean => /\.(?:md|markdown)$/i.test(path)

/** Returns a Markdown file as HTML that is safe to show; null for other files. */
export async function renderedText(
  { project, actor }: FastifyRequest,
  { ref }: RefPath,
  { path, text }: { readonly path: string; readonly text: string }
): Promise<string | null> {
  if (!isMarkdown(path)) return null
  const [html = null] = await textsHtml(
    [text],
    { project, actor },
    { ref, folder: path.split('/').slice(0, -1).join('/') }
  )
  return html
}
