// Turns the texts of GitHub into texts of this appliance. On GitHub, issues and pull requests share their numbers and the sign `#`, files
// that people add are absolute URLs of GitHub, and images that they paste are HTML, which pages here show as text.
import { percentDecoded } from '../../../lib/percent.js'
import { proseOf } from '../../../text/prose.js'
import { rewritten, type SourcePlace } from '../sources/rewrite.js'
import type { Rewriting, SourceFile, SourceProject } from '../sources/source.js'

export interface Place {
  /** The origin of the pages, such as https://github.com. */
  readonly web: string
  /** The base of the API, with a slash at the end. */
  readonly api: string
  readonly project: SourceProject
  /** Whether files are only shown with a token. */
  readonly isPrivate: boolean
  /** The numbers of the pull requests. */
  readonly pulls: ReadonlySet<number>
}

const CDNS = ['user-images.githubusercontent.com', 'private-user-images.githubusercontent.com']

/** Returns the text for this appliance. */
export function githubText(text: string, place: Place, into: Rewriting): string {
  const { project, pulls } = place
  const dialect = {
    url: (url: string) => fileOf(url, place) ?? pageOf(url, place),
    // The number of another project shows which of both it is only there.
    sign: (sign: '#' | '!', number: number, of: string | null) => (of === null && pulls.has(number) ? '!' : sign)
  } as const
  return rewritten(dialect, project, plainForms(text, place), into)
}

/** Writes images as Markdown, and `GH-5` as `#5`. */
function plainForms(text: string, place: Place): string {
  if (!/<img\s|GH-\d|\/assets\//i.test(text)) return text
  let made = ''
  let done = 0
  for (const [from, to] of proseOf(text)) {
    const prose = text
      .slice(from, to)
      .replace(/<img\s[^<>]{1,4000}>/gi, tag => imageOf(tag, place) ?? tag)
      .replace(/(!\[[^\]\n]{0,500}\]\()(https?:\/\/[^\s()<>]{1,2000})(?=\))/g, (_, start, url) => start + imageUrl(url))
      .replace(/(?<![\p{L}\p{N}_-])GH-(\d{1,10})(?![\p{L}\p{N}_-])/gu, '#$1')
    made += text.slice(done, from) + prose
    done = to
  }
  return made + text.slice(done)
}

function imageOf(tag: string, place: Place): string | null {
  const attribute = (name: string) =>
    new RegExp(`\\s${name}\\s{0,9}=\\s{0,9}["']([^"'<>]{0,2000})["']`, 'i').exec(tag)?.[1] ?? ''
  const url = attribute('src')
  if (/[\s()]/.test(url) || !fileOf(url, place)) return null
  return `![${
    attribute('alt')
      .replace(/[[\]\\\n`]/g, ' ')
      .trim() || 'image'
  }](${url})`
}

/** URLs of pasted images have no extension. The names here have one, because pages show only files that are images by name. */
const imageUrl = (url: string) => (/\/assets\/[\w/-]{1,200}$/.test(url) ? `${url}#image.png` : url)

/** Returns a file that people have added to a text, or an asset of a release of the project; null for other URLs. */
function fileOf(url: string, { web, api, project: { path }, isPrivate }: Place): SourceFile | null {
  if (!URL.canParse(url)) return null
  const { origin, host, pathname, hash } = new URL(url)
  const own = pathname.toLowerCase().startsWith(`/${path.toLowerCase()}/`) ? pathname.slice(path.length + 2) : ''
  const isAdded =
    /^\/user-attachments\/(?:assets|files)\/[\w-]+(?:\/|$)/.test(pathname) ||
    /^(?:assets|files)\/\d+\//.test(own) ||
    /^\/storage\/user\/\d+\/files\//.test(pathname) ||
    own.startsWith('releases/download/')
  const assets = `${api}repos/${path}/releases/assets/`
  const isAsset = url.startsWith(assets) && /^\d+(?:#|$)/.test(url.slice(assets.length))
  if (!isAsset && !CDNS.includes(host) && !(origin === web && isAdded)) return null
  const name = percentDecoded(hash.slice(1)) || percentDecoded(pathname.split('/').at(-1) ?? '') || 'file'
  // The token of an administrator reads more than the author of a text may read. So it is sent only for files of a private project,
  // whose authors are members, and for assets of the project itself.
  return { url: url.replace(/#.*$/s, ''), name, needsToken: isAsset || (isPrivate && origin === web) }
}

const FILE_PAGES = ['blob', 'tree', 'raw'] as const

/** Returns the page that a URL leads to; null for pages that have no counterpart here. */
function pageOf(url: string, { web, project, pulls }: Place): SourcePlace | null {
  if (!url.startsWith(`${web}/`)) return null
  const [path = ''] = url.slice(web.length + 1).split(/[?#]/, 1)
  const [owner = '', repository = '', page = '', id = ''] = path.split('/', 4)
  if (!/^[\w.-]+$/.test(owner) || !/^[\w.-]+$/.test(repository)) return null
  const isOwn = `${owner}/${repository}`.toLowerCase() === project.path.toLowerCase()
  const place = { project: isOwn ? project.path : `${owner}/${repository}`, id }
  if ((page === 'issues' || page === 'pull') && /^\d{1,9}$/.test(id)) {
    const isPull = page === 'pull' || (isOwn && pulls.has(Number(id)))
    return { ...place, page: isPull ? 'merge_requests' : 'issues' }
  }
  if (page === 'commit' && /^[0-9a-f]{7,40}$/.test(id)) return { ...place, page }
  if (page === '' && path === `${owner}/${repository}`) return { ...place, page: 'project' }
  const same = FILE_PAGES.find(each => each === page)
  if (same === undefined || id === '') return null
  // The lines of a file, `#L5`, have the same form here.
  return { ...place, page: same, id: url.slice(`${web}/${owner}/${repository}/${page}/`.length) }
}
