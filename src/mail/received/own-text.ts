// Finds what a person wrote in a reply: without the mail that it quotes, and without signatures. Programs quote in many ways and
// languages, so this looks for their shapes.

/** `-----Original Message-----`: everything below is the quoted mail. */
const ORIGINAL =
  /^\s*-{2,} ?(original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht|mensagem original|originalmeddelande|wiadomość oryginalna) ?-{2,}/iu
/** The line that Outlook draws above the headers of the mail. */
const RULE = /^\s*(_{10,}|-{10,})\s*$/
/** `-- ` begins a signature (RFC 3676). Some programs remove the space. */
const SIGNATURE = /^--\s*$/
/** What phones add. */
const FOOTER =
  /^(sent from (my|mail for)|get outlook for|von meinem .{1,40} gesendet|envoyé de mon|enviado desde mi|inviato da)\b/iu
const QUOTED = /^\s{0,3}>/
/** The lines of a header block, in the languages of Outlook: `From: Ada`, `*Von:* Ada`. */
const HEADER =
  /^\s*\*?(from|von|de|da|van|från|fra|od|sent|gesendet|envoyé|enviado|inviato|verzonden|date|datum|fecha|data|to|an|à|para|a|aan|subject|betreff|objet|asunto|oggetto|onderwerp|cc)\s*:\*?\s+\S/iu
/** Lines in a header block before it counts as one. */
const HEADERS = 3
/** `On Monday, Ada wrote:`, which programs break into up to three lines. Without a quotation below, only known words count. */
const ATTRIBUTION =
  /^\s*(on|am|le|el|il|op|em|den|w dniu)\b.{4,300}(wrote|schrieb|a écrit|écrit|escribió|ha scritto|schreef|escreveu|skrev|napisał\(a\)|napisał).{0,100}:\s*$/iu
const LEADS_IN = /\S.{3,300}:\s*$/
/** Every attribution has a date or an address. */
const DATED = /\d|@/
/** Characters. No line that means something to us is longer, and so no expression takes long. */
const LONGEST_LINE = 400
const FENCE = /^\s{0,3}(```|~~~)/
const LONGEST_ATTRIBUTION = 3

/** Returns the text of a reply. Quotations between two of its paragraphs stay, because the paragraphs answer them. */
export function ownText(text: string): string {
  const all = text.replace(/\r\n?/g, '\n').replaceAll('\u0000', '').split('\n')
  const lines = all.map(line => (line.length > LONGEST_LINE ? `${line.slice(0, 4)}x` : line))
  const [start, end] = withoutQuotes(lines.slice(0, endOf(lines)))
  return all.slice(start, end).join('\n').trimEnd()
}

/** The number of lines before the first that ends the text. Lines of code never do. */
function endOf(lines: readonly string[]): number {
  const code = codeLines(lines)
  const end = lines.findIndex(
    (line, at) => !code.has(at) && (SIGNATURE.test(line) || isFooter(lines, at) || isQuotedMail(lines, at))
  )
  return end < 0 ? lines.length : end
}

function isFooter(lines: readonly string[], at: number): boolean {
  if (!FOOTER.test(lines[at] ?? '')) return false
  const next = nextText(lines, at + 1)
  return (
    next >= lines.length ||
    QUOTED.test(lines[next] ?? '') ||
    attributionAt(lines, next) > 0 ||
    isQuotedMail(lines, next)
  )
}

/** Whether a quoted mail begins here whose lines have no marks. */
function isQuotedMail(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? ''
  if (ORIGINAL.test(line) || headersAt(lines, at) >= HEADERS) return true
  // A rule may also be one of the writer.
  if (RULE.test(line)) return headersAt(lines, nextText(lines, at + 1)) >= HEADERS - 1
  const length = attributionAt(lines, at)
  return length > 0 && !isQuoteBelow(lines, at + length)
}

/** The lines between two marks of a code block. A mark without an end begins none. */
function codeLines(lines: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>()
  let start: number | undefined
  for (const [at, line] of lines.entries()) {
    if (!FENCE.test(line)) continue
    if (start !== undefined) for (let each = start; each <= at; each++) found.add(each)
    start = start === undefined ? at : undefined
  }
  return found
}

/** How many lines of a header block follow each other from here. */
function headersAt(lines: readonly string[], from: number): number {
  let at = from
  while (HEADER.test(lines[at] ?? '')) at++
  return at - from
}

/** How many lines an attribution has that begins here; 0 for none. */
function attributionAt(lines: readonly string[], at: number): number {
  for (let length = 1; length <= LONGEST_ATTRIBUTION; length++) {
    if ((lines[at + length - 1] ?? '').trim() === '') return 0
    const joined = lines.slice(at, at + length).join(' ')
    if (ATTRIBUTION.test(joined) && DATED.test(joined)) return length
  }
  return 0
}

function nextText(lines: readonly string[], from: number): number {
  let at = from
  while (at < lines.length && (lines[at] ?? '').trim() === '') at++
  return at
}

const isQuoteBelow = (lines: readonly string[], from: number) => QUOTED.test(lines[nextText(lines, from)] ?? '')

/** Returns where the text begins and ends without the quotations above and below it, and the lines that introduce them. */
function withoutQuotes(lines: readonly string[]): readonly [start: number, end: number] {
  const code = codeLines(lines)
  const isCut = (at: number) => (lines[at] ?? '').trim() === '' || (!code.has(at) && QUOTED.test(lines[at] ?? ''))
  let end = lines.length
  while (end > 0 && isCut(end - 1)) end--
  if (isQuoteBelow(lines, end)) end = beforeLead(lines, end)
  let start = nextText(lines, 0)
  const lead = leadAt(lines, start)
  if (lead + start < end) start += lead
  while (start < end && isCut(start)) start++
  return [start, Math.max(start, end)]
}

/** Where the text ends whose quotation begins after `end`. */
function beforeLead(lines: readonly string[], end: number): number {
  for (let length = LONGEST_ATTRIBUTION; length > 0; length--) {
    if (end >= length && attributionAt(lines, end - length) === length) return end - length
  }
  return leadsIn(lines[end - 1]) ? end - 1 : end
}

/** How many lines introduce the quotation below them; 0 for none. */
function leadAt(lines: readonly string[], at: number): number {
  const known = attributionAt(lines, at)
  if (known > 0) return isQuoteBelow(lines, at + known) ? known : 0
  return leadsIn(lines[at]) && isQuoteBelow(lines, at + 1) ? 1 : 0
}

const leadsIn = (line = '') => LEADS_IN.test(line) && DATED.test(line)
