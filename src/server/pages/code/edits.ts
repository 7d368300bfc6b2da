// Pages that edit one file as a commit: change, create and delete.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import {
  findBranchPath,
  LONGEST_EDITED,
  mayCommitTo,
  readEdited,
  removeFile,
  saveText
} from '../../../areas/code/browsing/edits.js'
import type { RefPath } from '../../../areas/code/browsing/ref-paths.js'
import { OutdatedFile } from '../../../areas/code/repository/writing/branch-commits.js'
import { type Static, Type } from '../../../lib/type.js'
import { visible } from '../../../lib/visible.js'
import { show } from '../page-routes.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { codePath, codePlace, restOf } from './places.js'

const EditForm = Type.Object({
  file_path: Type.Optional(Type.String({ maxLength: 4096 })),
  content: Type.Optional(Type.String({ maxLength: 2 * LONGEST_EDITED })),
  commit_message: Type.Optional(Type.String({ maxLength: 10_000 })),
  branch_name: Type.Optional(Type.String({ maxLength: 255 })),
  last_commit_id: Type.Optional(Type.String({ maxLength: 40 }))
})
type EditForm = Static<typeof EditForm>

type Kind = 'edit' | 'new' | 'delete'
const KINDS: readonly Kind[] = ['edit', 'new', 'delete']
const WORDS = { edit: 'Update', new: 'Add', delete: 'Delete' } as const
/** A form encodes a character with up to nine. */
const BODY_LIMIT = 9 * LONGEST_EDITED + 65_536

export const editPages: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'repository.write' as const }
  for (const kind of KINDS) {
    app.get(`/:namespace/:project/${kind}/*`, { config }, async (request, reply) => {
      const found = await findBranchPath(request.project, restOf(request))
      return showForm(request, reply, { kind, found })
    })

    app.post(
      `/:namespace/:project/${kind}/*`,
      { config, bodyLimit: BODY_LIMIT, schema: { body: EditForm } },
      async (request, reply) => {
        const found = await findBranchPath(request.project, restOf(request))
        const refused = await save(request, kind, found).catch(refusalOf)
        if (refused) return showForm(request, reply.code(refused.isOutdated ? 409 : 400), { kind, found, refused })
        return reply.redirect(afterwards(request, kind, found), 303)
      }
    )
  }
}

interface Refused {
  readonly refusals: Refusals
  readonly isOutdated: boolean
}

const refusalOf = (error: unknown): Refused => ({
  refusals: refusalsOf(error),
  isOutdated: error instanceof OutdatedFile
})

const targetOf = ({ ref }: RefPath, { branch_name: name }: EditForm) => name ?? ref
const pathOf = (kind: Kind, { path }: RefPath, { file_path: name = '' }: EditForm) => (kind === 'new' ? name : path)

async function save({ project, body, origin }: FastifyRequest, kind: Kind, found: RefPath): Promise<undefined> {
  const form = body as EditForm
  const path = pathOf(kind, found, form)
  const edit = {
    path,
    target: targetOf(found, form),
    message: form.commit_message ?? `${WORDS[kind]} ${path}`,
    lastCommitId: kind === 'new' ? undefined : form.last_commit_id
  }
  if (kind === 'delete') return void (await removeFile(project, found, edit, origin))
  const action = kind === 'new' ? 'create' : 'update'
  await saveText(project, found, { ...edit, text: form.content ?? '', action }, origin)
  return undefined
}

/** Returns the next page: the file, or the form of a merge request for a new branch. */
function afterwards({ project, actor, body }: FastifyRequest, kind: Kind, found: RefPath): string {
  const { base, at } = codePlace({ project, actor }, found)
  const target = targetOf(found, body as EditForm)
  if (target !== found.ref && may(actor, 'merge_request.create', project)) {
    const fields = { 'merge_request[source_branch]': target, 'merge_request[target_branch]': found.ref }
    return `${base}/merge_requests/new?${new URLSearchParams(fields)}`
  }
  const path = pathOf(kind, found, body as EditForm)
  if (kind !== 'delete') return codePath(base, 'blob', target, path)
  return target === found.ref ? at('tree', '') : codePath(base, 'tree', target)
}

interface Shown {
  readonly kind: Kind
  readonly found: RefPath
  readonly refused?: Refused
}

async function showForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { kind, found, refused }: Shown
): Promise<FastifyReply> {
  const { project, actor } = request
  const code = codePlace(request, found)
  const file = kind === 'new' ? null : await readEdited(found)
  const entered = (request.body ?? {}) as EditForm
  const isOpen = await mayCommitTo(project, found.ref, actor)
  const folder = found.path === '' ? '' : `${found.path}/`
  return show(request, reply, 'code/edit', {
    title: kind === 'new' ? 'New file' : `${kind === 'edit' ? 'Edit' : 'Delete'} ${visible(found.path)}`,
    ...{ code, kind, file, refused, isOpen },
    values: {
      file_path: entered.file_path ?? folder,
      content: entered.content ?? file?.text ?? '',
      commit_message: entered.commit_message ?? '',
      branch_name: entered.branch_name ?? (isOpen ? found.ref : `${actor.user?.username}-patch`),
      last_commit_id: (refused?.isOutdated ? file?.lastCommitId : (entered.last_commit_id ?? file?.lastCommitId)) ?? ''
    },
    usual: `${WORDS[kind]} ${kind === 'new' ? 'a file' : visible(found.path)}`
  })
}
