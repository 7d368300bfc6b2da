// References in texts of GitLab.
import { percentDecoded } from '../../../../lib/percent.js'
import { type Dialect, rewritten, type SourcePlace } from '../../sources/rewrite.js'
import type { Rewriting, SourceFile, SourceProject } from '../../sources/source.js'

export interface Place {
  readonly project: SourceProject
  /** The base of the API. */
  readonly base: URL
  /** The URL of the forge, without a slash at its end. */
  readonly web: string
  /** The API gives uploads since version 17.4. Before, only the pages did, and those of private projects want a session. */
  readonly hasUploads: boolean
}

const UPLOAD = /^\/uploads\/([0-9a-f]{32})\/([^/?#]{1,255})$/
const PAGE = /^\/([\w./-]{1,1000}?)\/(?:-\/)?(issues|work_items|merge_requests|commit|blob|tree|raw)\/([^\s]{1,2000})$/
const PROJECT = /^\/((?:[\w.-]{1,255}\/){1,20}[\w.-]{1,255})$/

export function gitlabText(place: Place, text: string, into: Rewriting): string {
  const dialect: Dialect = { url: url => targetOf(url, place), sign: sign => sign }
  return rewritten(dialect, place.project, text, into)
}

function targetOf(url: string, place: Place): SourcePlace | SourceFile | null {
  const { web, project } = place
  const root = URL.canParse(web) ? new URL(web).pathname.replace(/\/$/, '') : ''
  if (!url.startsWith(`${web}/`)) {
    // In a link, `/uploads/` is relative to the project, and any other path to the server.
    if (!url.startsWith('/')) return null
    return fileAt(url, place) ?? (url.startsWith(`${root}/`) ? pageOf(url.slice(root.length)) : null)
  }
  const asset = assetAt(url, place)
  if (asset) return asset
  const path = url.slice(web.length)
  for (const folder of [`/${project.path}`, `/-/project/${project.id}`]) {
    if (path.startsWith(`${folder}/uploads/`)) return fileAt(path.slice(folder.length), place)
  }
  return pageOf(path)
}

/** Only files of the project itself: the token may read more than the author of the text. */
function fileAt(path: string, { project, base, web, hasUploads }: Place): SourceFile | null {
  const [, secret, name] = UPLOAD.exec(path) ?? []
  if (secret === undefined || name === undefined) return null
  const file = `uploads/${secret}/${name}`
  const url = hasUploads ? new URL(`projects/${project.id}/${file}`, base).href : `${web}/${project.path}/${file}`
  return { url, name: percentDecoded(name) }
}

/** A file of a release, as people upload it: a package of the project. */
function assetAt(url: string, { project, base }: Place): SourceFile | null {
  const packages = `${base.href}projects/${project.id}/packages/generic/`
  const [, name] =
    /^(?:[^/?#]{1,255}\/){2}([^/?#]{1,255})$/.exec(url.startsWith(packages) ? url.slice(packages.length) : '') ?? []
  return name === undefined ? null : { url, name: percentDecoded(name) }
}

function pageOf(path: string): SourcePlace | null {
  const [, project = '', page = '', rest = ''] = PAGE.exec(path) ?? []
  const number = /^\d{1,10}(?=$|[/?#])/.exec(rest)?.[0]
  switch (page) {
    case 'issues':
    case 'work_items':
      return number === undefined ? null : { project, page: 'issues', id: number }
    case 'merge_requests':
      return number === undefined ? null : { project, page, id: number }
    case 'commit': {
      const commit = /^[0-9a-f]{7,40}(?=$|[/?#])/.exec(rest)?.[0]
      return commit === undefined ? null : { project, page, id: commit }
    }
    case 'blob':
    case 'tree':
    case 'raw':
      return { project, page, id: rest }
    default: {
      const found = PROJECT.exec(path.replace(/(?:\.git)?\/?$/, ''))?.[1]
      return found === undefined ? null : { project: found, page: 'project', id: '' }
    }
  }
}
