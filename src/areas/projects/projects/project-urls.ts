// The URLs of a project.
import { publicSshAddress, publicUrl } from '../../../config.js'

/** Returns the URLs of the project NAMESPACE/PROJECT: its page, and its addresses for git over HTTP and SSH. */
export function projectUrls(path: string) {
  const web = `${publicUrl()}/${path}`
  return { web, http: `${web}.git`, ssh: sshUrl(path) }
}

/** Decided: the short form when SSH has its usual port, otherwise a URL; an IPv6 address has brackets. */
function sshUrl(path: string): string {
  const { host, port } = publicSshAddress()
  const written = host.includes(':') ? `[${host}]` : host
  return port === 22 ? `git@${written}:${path}.git` : `ssh://git@${written}:${port}/${path}.git`
}
