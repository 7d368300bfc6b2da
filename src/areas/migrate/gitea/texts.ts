// References in texts of Gitea. Issues and pull requests share their numbers there, and the sign `#`.
import { percentDecoded } from '../../../lib/percent.js'
import { type Dialect, rewritten, type SourcePlace } from '../sources/rewrite.js'
import type { Rewriting, SourceFile, SourceProject } from '../sources/source.js'

export interface Place {
  readonly project: SourceProject
  /** The URL of the forge, without a slash at its end. */
  readonly web: string
  /** The numbers of the pull requests of the project. */
  readonly pulls: ReadonlySet<number>
}

const PAGE = /^\/([\w.-]{1,255}\/[\w.-]{1,255})(?:\/(issues|pulls|commit|src|raw)\/(\S{1,2000}))?\/?$/
const ATTACHMENT = /^(?:\/([\w.-]{1,255}\/[\w.-]{1,255}))?\/attachments\/([0-9a-f-]{36})(?:#(\S{1,500}))?$/
const ASSET = /^\/([\w.-]{1,255}\/[\w.-]{1,255})\/releases\/download\/\S{1,500}\/([^/?#\s]{1,500})$/

export function giteaText(place: Place, text: string, into: Rewriting): string {
  const { project, pulls } = place
  const dialect: Dialect = {
    url: url => targetOf(url, place),
    sign: (sign, number, path) => {
      if (path !== null) return sign
      return pulls.has(number) ? '!' : '#'
    }
  }
  return rewritten(dialect, project, text, into)
}

function targetOf(url: string, place: Place): SourcePlace | SourceFile | null {
  const { web } = place
  const root = new URL(web).pathname.replace(/\/$/, '')
  const start = url.startsWith(`${web}/`) ? web : url.startsWith(`${root}/`) ? root : null
  if (start === null) return null
  const path = url.slice(start.length)
  return fileAt(path, place) ?? pageOf(path, place)
}

/** Only files of the project itself: the token may read more than the author of the text. */
function fileAt(path: string, { project, web }: Place): SourceFile | null {
  const [, of, id, name] = ATTACHMENT.exec(path) ?? []
  // Below the project, newer versions only give attachments of this project.
  if (id !== undefined && (of ?? project.path) === project.path)
    return { url: `${web}/${project.path}/attachments/${id}`, name: percentDecoded(name ?? id) }
  const [, owner, asset] = ASSET.exec(path) ?? []
  return asset !== undefined && owner === project.path ? { url: web + path, name: percentDecoded(asset) } : null
}

function pageOf(path: string, place: Place): SourcePlace | null {
  const [, project = '', page, rest = ''] = PAGE.exec(path) ?? []
  if (project === '') return null
  if (page === undefined) return { project, page: 'project', id: '' }
  if (page === 'issues' || page === 'pulls') {
    const id = /^\d{1,10}(?=$|[/?#])/.exec(rest)?.[0]
    if (id === undefined) return null
    // Each address leads to the other where it must.
    const isPull = project === place.project.path ? place.pulls.has(Number(id)) : page === 'pulls'
    return { project, page: isPull ? 'merge_requests' : 'issues', id }
  }
  if (page === 'commit') {
    const id = /^[0-9a-f]{7,40}(?=$|[/?#])/.exec(rest)?.[0]
    return id === undefined ? null : { project, page, id }
  }
  const [, file] = /^(?:branch|commit|tag)\/(\S{1,2000})$/.exec(rest) ?? []
  return file === undefined ? null : { project, page: page === 'raw' ? 'raw' : 'blob', id: file }
}
