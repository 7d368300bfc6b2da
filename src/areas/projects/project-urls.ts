// The addresses of a project.
import { publicUrl } from '../../config.js'

/** The URLs of the project NAMESPACE/PROJECT: its page, and its addresses for git over HTTP and SSH. */
export function projectUrls(path: string) {
  const web = `${publicUrl()}/${path}`
  return { web, http: `${web}.git`, ssh: `git@${sshHost()}:${path}.git` }
}

// Every record of a project has the SSH address, so the public URL is parsed only once.
let known = { of: '', host: '' }

/** The host of the public URL; an IPv6 address keeps its brackets. */
function sshHost(): string {
  const url = publicUrl()
  if (known.of !== url) known = { of: url, host: new URL(url).hostname }
  return known.host
}
