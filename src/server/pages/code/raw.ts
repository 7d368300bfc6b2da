// Sends the content of a file so that it can do nothing in our origin: as plain text in a sandbox, or as a download. Only images
// have a type of their own, because pages show them.
import type { FastifyReply } from 'fastify'
import type { FoundFile } from '../../../areas/code/browsing/file-texts.js'
import type { RefPath } from '../../../areas/code/browsing/ref-paths.js'
import { openFound } from '../../../areas/code/repository/contents.js'
import { openObject } from '../../../areas/projects/lfs/objects.js'
import { contentDisposition } from '../../../lib/disposition.js'
import { mayBeDirect } from '../../../storage/direct-downloads.js'
import { cutStalledAnswer } from '../../stalled-clients.js'

const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  svg: 'image/svg+xml'
}
/** Names of files that browsers show as text. Others are downloads, so that no browser guesses what they are. */
const DOWNLOADS =
  /\.(?:7z|bin|bz2|class|dll|dmg|docx?|exe|gz|iso|jar|mp[34]|msi|o|odt|ogg|pdf|pptx?|rar|so|tar|tgz|wasm|woff2?|xlsx?|xz|zip|zst)$/i
/** Bytes of a file that a browser shows as text. */
const MOST_TEXT = 8 * 1024 * 1024

/** Returns the type of an image by its name; null for other files. */
export const imageType = (name: string): string | null =>
  IMAGES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? null

/** Sends a file. Its version is the id of its content. */
export async function sendRaw(
  reply: FastifyReply,
  { repository }: RefPath,
  { entry, size }: FoundFile
): Promise<FastifyReply> {
  if (reply.isKnown(entry.id)) return reply
  const { stream } = await openFound(
    { repository, id: entry.id, name: entry.name },
    { content: reply.request.method !== 'HEAD' }
  )
  return withHeaders(reply, { name: entry.name, size }).send(stream)
}

interface NamedFile {
  readonly name: string
  readonly size: number
}

/** An image may contain scripts. A page does not run them, but opening the image itself downloads it. */
function isShown({ name, size }: NamedFile): boolean {
  const image = imageType(name)
  return image === null ? size <= MOST_TEXT && !DOWNLOADS.test(name) : image !== 'image/svg+xml'
}

const withHeaders = (reply: FastifyReply, file: NamedFile): FastifyReply =>
  reply.type(imageType(file.name) ?? 'text/plain; charset=utf-8').headers({
    'content-length': file.size,
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'content-disposition': contentDisposition(isShown(file) ? 'inline' : 'attachment', file.name)
  })

/** Sends the object of git LFS for which a file stands. Its version is its name. Throws FoundElsewhere for a download from the bucket. */
export async function sendLarge(
  reply: FastifyReply,
  projectId: number,
  file: NamedFile & { readonly oid: string }
): Promise<FastifyReply> {
  if (reply.isKnown(file.oid)) return reply
  const { request } = reply
  const direct = !isShown(file) && mayBeDirect(request)
  const { stream } = await openObject(projectId, file.oid, { direct })
  // Otherwise the stream of a HEAD would stay open.
  if (request.method === 'HEAD') stream.destroy()
  cutStalledAnswer(reply.raw)
  return withHeaders(reply, file).send(request.method === 'HEAD' ? undefined : stream)
}
