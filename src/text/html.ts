// Renders Markdown for the HTML part of mails. HTML in a text stays visible text, links are absolute, and images are links: mail
// programs would show their readers' addresses to the server of an image, and cannot sign in to show a private one.
import MarkdownIt from 'markdown-it'

/** Where relative links of a text begin. */
export interface LinkBase {
  /** The URL of the appliance. */
  readonly root: string
  /** NAMESPACE/PROJECT. */
  readonly project: string
  /** The URL of the page that shows the text. */
  readonly page: string
}

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: 20 })
// Only whole URLs are links: the other guesses of the library take long on some texts.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })

type Token = ReturnType<typeof markdown.parse>[number]

/** Returns a Markdown text as HTML that is safe to show. */
export function markdownHtml(text: string, base: LinkBase): string {
  const tokens = markdown.parse(text, {})
  for (const { children } of tokens) if (children) fixLinks(children, base)
  return markdown.renderer.render(tokens, markdown.options, {})
}

function fixLinks(tokens: readonly Token[], base: LinkBase): void {
  let links = 0
  for (const token of tokens) {
    if (token.type === 'link_open') {
      links++
      point(token, token.attrGet('href'), base)
    }
    if (token.type === 'link_close') links--
    // The renderer below shows the text of an image: as a link, unless it is in one.
    if (token.type === 'image') point(token, links > 0 ? null : token.attrGet('src'), base)
  }
}

function point(token: Token, link: string | number | null, base: LinkBase): void {
  const url = link === null ? null : absoluteUrl(String(link), base)
  token.attrs = url === null ? [] : [['href', url]]
}

markdown.renderer.rules.image = (tokens, at, options, env, renderer) => {
  const token = tokens[at]
  if (!token) return ''
  const words = markdown.utils.escapeHtml(renderer.renderInlineAsText(token.children ?? [], options, env) || 'image')
  return token.attrGet('href') === null ? words : `<a${renderer.renderAttrs(token)}>${words}</a>`
}

/** Returns the URL of a link in a text; null for one that must not be a link. */
function absoluteUrl(link: string, { root, project, page }: LinkBase): string | null {
  if (/^[a-z][a-z\d+.-]*:/i.test(link)) return /^(https?|mailto):/i.test(link) ? parsed(link) : null
  if (link.startsWith('//')) return null
  if (link.startsWith('#')) return parsed(page.replace(/#.*$/, '') + link)
  // Uploads are below their project; other links from the root are those of the appliance.
  const isOfProject = !link.startsWith('/') || link.startsWith('/uploads/')
  return parsed(isOfProject ? `${root}/${project}/${link.replace(/^\//, '')}` : root + link)
}

const parsed = (url: string): string | null => (URL.canParse(url) ? new URL(url).href : null)
