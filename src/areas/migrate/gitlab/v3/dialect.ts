// How API v3 refers to its own pages and files.
import { percentDecoded } from '../../../../lib/percent.js'
import type { Dialect, SourcePlace } from '../../sources/rewrite.js'
import type { SourceFile } from '../../sources/source.js'

const PROJECT = '([A-Za-z0-9_.][\\w.-]*\\/[A-Za-z0-9_.][\\w.-]*)'
const PAGE = new RegExp(
  `^\\/${PROJECT}(?:\\/(issues|merge_requests|commit|blob|tree|raw)\\/([^?#]{1,1000}))?\\/?(?:[?#].*)?$`
)
const UPLOAD = new RegExp(`^(?:\\/${PROJECT})?\\/uploads\\/([0-9a-f]{32})\\/([^/?#]{1,500})$`)

export function dialectOf(base: URL): (project: string) => Dialect {
  const root = `${base.origin}${base.pathname.replace(/\/*$/, '')}`
  return project => ({
    // The sign already says what a number is.
    sign: sign => sign,
    url: url => {
      const path = url.startsWith('/') ? url : url.startsWith(`${root}/`) ? url.slice(root.length) : null
      return path === null ? null : (fileAt(root, project, path) ?? pageAt(path))
    }
  })
}

function fileAt(root: string, project: string, path: string): SourceFile | null {
  const [, of = project, secret, name = ''] = UPLOAD.exec(path) ?? []
  return secret === undefined ? null : { url: `${root}/${of}/uploads/${secret}/${name}`, name: percentDecoded(name) }
}

function pageAt(path: string): SourcePlace | null {
  const [, project, page, id = ''] = PAGE.exec(path) ?? []
  if (project === undefined) return null
  const number = page === 'issues' || page === 'merge_requests' ? /^\d{1,10}$/.test(id) : true
  return number ? { project, page: (page ?? 'project') as SourcePlace['page'], id } : null
}
