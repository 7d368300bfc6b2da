import { testAccess } from '../../../access/matrix.js'
import { fillWithBuild } from '../builds/make-builds.js'
import { access as statuses } from './commit-statuses.access.js'
import { access as pipelines } from './pipelines.access.js'
import { access as triggers } from './triggers.access.js'

testAccess([pipelines, statuses, triggers], fillWithBuild)
