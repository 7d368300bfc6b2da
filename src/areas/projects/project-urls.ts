// The addresses by which a project is reached.
import { publicUrl } from '../../config.js'

/** The URLs of the project NAMESPACE/PROJECT: its page, and where git finds it over HTTP and SSH. */
export function projectUrls(path: string) {
  const web = `${publicUrl()}/${path}`
  return { web, http: `${web}.git`, ssh: `git@${sshHost()}:${path}.git` }
}

// Every record of a project has the address, and the URL is parsed once.
let known = { of: '', host: '' }

/** The host of the public URL; an IPv6 address keeps its brackets. */
function sshHost(): string {
  const url = publicUrl()
  if (known.of !== url) known = { of: url, host: new URL(url).hostname }
  return known.host
}
