// Where links and images of a text lead on our pages.

/** What the links of a text are relative to. Every text with the same context has the same HTML. */
export interface TextContext {
  /** NAMESPACE/PROJECT; null for a text outside of projects. */
  readonly project: string | null
  /** For a file of a repository: the branch, tag or commit, and the folder of the file, which is empty at the top. */
  readonly file?: { readonly ref: string; readonly folder: string }
}

/** Uploads have a folder with a secret name. */
const UPLOAD = /^\/?uploads\/[0-9a-f]{32}\//
/** Not part of any real address: it only makes relative links whole. */
const NOWHERE = 'http://nowhere.invalid'

/** The beginning of the ids of headings, so that no heading takes the id of another part of the page. */
export const HEADING = 'md-'

/** Returns the path below the root of this appliance with its parts encoded. */
export const pathOf = (...parts: readonly string[]): string =>
  parts.map(part => `/${part.split('/').map(encodeURIComponent).join('/')}`).join('')

/** Returns where a link in a text leads; null for one that must not be a link. */
export function linkOf(link: string, context: TextContext): string | null {
  if (/^[a-z][a-z\d+.-]*:/i.test(link)) return /^(https?|mailto):/i.test(link) ? parsed(link) : null
  // In a file, this can only be one of its own headings; elsewhere also a note.
  if (link.startsWith('#')) return context.file ? `#${HEADING}${link.slice(1)}` : link
  return localLink(link, context, 'blob')
}

/**
 * Returns where the image of a text is; null for images of other servers. Not specified: those. They are shown as links: their
 * servers would see the address of every reader, and when each of them reads.
 */
export const imageOf = (link: string, context: TextContext): string | null =>
  /^[a-z][a-z\d+.-]*:|^#/i.test(link) ? null : localLink(link, context, 'raw')

function localLink(link: string, { project, file }: TextContext, page: 'blob' | 'raw'): string | null {
  if (/^[/\\]{2}/.test(link)) return null
  if (project === null) return link.startsWith('/') ? localPath(link, '/') : null
  const root = `${pathOf(project)}/`
  if (UPLOAD.test(link)) return localPath(link.replace(/^\//, ''), root)
  if (!file) {
    const isOfProject = !link.startsWith('/') || link.startsWith('/uploads/')
    return isOfProject ? localPath(link.replace(/^\//, ''), root) : localPath(link, '/')
  }
  const top = `${pathOf(project, page, file.ref)}/`
  const folder = file.folder === '' || link.startsWith('/') ? '' : `${pathOf(file.folder).slice(1)}/`
  const found = localPath(link.replace(/^\//, ''), top + folder)
  return found?.startsWith(top) ? withHeading(found) : null
}

/** Another file shows its headings with the same ids; lines of code keep theirs. */
const withHeading = (link: string): string => link.replace(/#(?!L\d|$)/, `#${HEADING}`)

function localPath(link: string, base: string): string | null {
  const whole = NOWHERE + base
  if (!URL.canParse(link, whole)) return null
  const { origin, pathname, search, hash } = new URL(link, whole)
  // Dots in a path may leave two slashes at its beginning, after which browsers expect another host.
  return origin === NOWHERE && !pathname.startsWith('//') ? pathname + search + hash : null
}

const parsed = (url: string): string | null => (URL.canParse(url) ? new URL(url).href : null)
