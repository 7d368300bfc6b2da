import { contentDisposition } from '../../../lib/disposition.js'

/** Returns the headers for the text of a snippet: a download that runs no script, regardless of the text. */
export const rawSnippet = ({ id, file_name: name }: { readonly id: number; readonly file_name: string }) => ({
  'content-type': 'text/plain; charset=utf-8',
  'content-security-policy': "default-src 'none'; sandbox",
  'content-disposition': contentDisposition('attachment', name || `snippet-${id}.txt`)
})
