import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

/** Makes a zip archive of texts by their paths. */
export async function zipOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [path, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), path)
  zip.end()
  return buffer(zip.outputStream)
}

/** Replaces a name in an archive with another of the same length, which the library would not accept. */
export const renamed = (zip: Buffer, name: string, other: string): Buffer =>
  Buffer.from(zip.toString('latin1').replaceAll(name, other), 'latin1')
