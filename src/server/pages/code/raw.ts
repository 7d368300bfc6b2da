// Sends the content of a file so that it can do nothing in our origin: as plain text in a sandbox, or as a download. Only images
// have a type of their own, because pages show them.
import type { FastifyReply } from 'fastify'
import type { FoundFile } from '../../../areas/code/browsing/file-texts.js'
import type { RefPath } from '../../../areas/code/browsing/ref-paths.js'
import { openFound } from '../../../areas/code/repository/contents.js'
import { contentDisposition } from '../../../lib/disposition.js'

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
  const image = imageType(entry.name)
  // An image may contain scripts. A page does not run them, and who opens the image itself gets a download.
  const isShown =
    (image !== null && image !== 'image/svg+xml') ||
    (image === null && size <= MOST_TEXT && !DOWNLOADS.test(entry.name))
  const { stream } = await openFound(
    { repository, id: entry.id, name: entry.name },
    { content: reply.request.method !== 'HEAD' }
  )
  return reply
    .type(image ?? 'text/plain; charset=utf-8')
    .headers({
      'content-length': size,
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'content-disposition': contentDisposition(isShown ? 'inline' : 'attachment', entry.name)
    })
    .send(stream)
}
