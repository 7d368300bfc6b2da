// Reads a project of the source whole, onto the disk.
import { percentDecoded } from '../../../lib/percent.js'
import type { Draft, SourceProject } from '../sources/source.js'
import { uploadOf } from './files.js'
import type { Part, Session } from './session.js'
import { newSkips, type Skips } from './skips.js'
import { spoolOf, writeSpool } from './spool.js'
import { newSurvey, noteFile, type Survey, survey } from './survey.js'

export interface Collected {
  readonly spool: string
  readonly survey: Survey
  readonly skips: Skips
  /** Changes with the project itself, whose page belongs to a list of the whole instance. */
  readonly about: string
}

/** The fields whose texts may name files. */
const TEXTS = ['description', 'note'] as const

/** `records` are those of the source, unless something else takes their place. */
export async function collect(
  session: Session,
  part: Part,
  project: SourceProject,
  records?: AsyncIterable<Draft>
): Promise<Collected> {
  const skips = newSkips()
  const found = newSurvey()
  const spool = spoolOf(part.folder)
  let [done, about] = [0, '']
  const into = {
    mention: (username: string) => username,
    project: () => null,
    file: (file: { url: string; name: string }) => {
      noteFile(found, file)
      const { secret, name } = uploadOf(project.id, file)
      return `/uploads/${secret}/${name}`
    }
  }
  async function* surveyed(): AsyncGenerator<Draft> {
    for await (const draft of records ?? part.source.records(project, skips.skipped)) {
      session.signal.throwIfAborted()
      survey(found, draft)
      if (draft.kind === 'project') about = JSON.stringify({ ...draft, last_activity_at: null })
      for (const field of TEXTS) {
        if (typeof draft[field] === 'string' && draft.kind !== 'project') part.source.text(project, draft[field], into)
      }
      session.progress(`reading ${project.path}`, ++done, 0)
      yield draft
    }
  }
  await writeSpool(spool, surveyed())
  if (project.avatarUrl !== null) noteFile(found, { url: project.avatarUrl, name: nameOf(project.avatarUrl) })
  return { spool, survey: found, skips, about }
}

function nameOf(url: string): string {
  const last = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : undefined
  return percentDecoded(last || 'file')
}
