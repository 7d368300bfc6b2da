// The record of a new upload.
import { Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'

export const Upload = Type.Object(
  {
    alt: Text('the alternative text'),
    url: Text('the path of the file below the page of the project'),
    markdown: Text('the Markdown that shows the file')
  },
  { title: 'Upload', description: 'A file that was attached to a project.' }
)

const SHOWN = /\.(png|jpe?g|gif|bmp|tiff|svg|webp|mp4|m4v|mov|webm|ogv)$/i

/** Images and videos are shown in the text, other files are links. */
export function viewUpload({ secret, name }: { readonly secret: string; readonly name: string }) {
  const url = `/uploads/${secret}/${name}`
  const shown = SHOWN.test(name)
  const alt = shown ? name.replace(SHOWN, '') : name
  // Names contain only letters, digits and _.+-; of these only the underscore has a meaning in Markdown.
  const text = alt.replaceAll('_', '\\_')
  return { alt, url, markdown: `${shown ? '!' : ''}[${text}](${url})` }
}
