import { createTag } from '../../../../src/areas/code/refs/tags/tags.js'
import { testAccess } from '../../../access/matrix.js'
import { factory, originBy, projectRow } from '../../../helpers/factory.js'
import { access as branches } from './branches.access.js'
import { access as tags } from './tags.access.js'

testAccess([branches, tags], async project => {
  await factory.file(project, 'README', 'read')
  await createTag(await projectRow(project), { tag_name: 'v1', ref: 'master' }, originBy(project.owner))
})
