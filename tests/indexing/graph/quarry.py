"""A small Laravel application of our own: a quarry that keeps stones."""

from __future__ import annotations

from pathlib import Path

APP = {
    "composer.json": '{"require": {"laravel/framework": "^11.0"}, "autoload": {"psr-4": {"App\\\\": "app/"}}}\n',
    "bootstrap/app.php": """<?php

use Illuminate\\Foundation\\Application;

return Application::configure(basePath: dirname(__DIR__))
    ->withRouting(web: __DIR__.'/../routes/web.php', api: __DIR__.'/../routes/api.php')
    ->create();
""",
    "routes/web.php": """<?php

use Illuminate\\Support\\Facades\\Route;

Route::get('/', fn () => view('welcome'))->name('home');
""",
    "routes/api.php": """<?php

use App\\Http\\Controllers\\StoneController;
use Illuminate\\Support\\Facades\\Route;

Route::middleware('auth')->group(function () {
    Route::get('stones', [StoneController::class, 'index'])->name('stones.index');
    Route::put('stones/{stone}', [StoneController::class, 'update'])->name('stones.update');
});
""",
    "app/Http/Controllers/StoneController.php": """<?php

namespace App\\Http\\Controllers;

use App\\Http\\Requests\\StoneRequest;
use App\\Models\\Stone;

class StoneController
{
    public function index()
    {
        return Stone::query()->get();
    }

    public function update(StoneRequest $request, Stone $stone)
    {
        $stone->polish();

        return $stone;
    }
}
""",
    "app/Http/Requests/StoneRequest.php": """<?php

namespace App\\Http\\Requests;

use Illuminate\\Foundation\\Http\\FormRequest;

class StoneRequest extends FormRequest
{
    public function rules(): array
    {
        return ['weight' => 'required'];
    }
}
""",
    "app/Models/Stone.php": """<?php

namespace App\\Models;

use Illuminate\\Database\\Eloquent\\Model;

class Stone extends Model
{
    public function pile()
    {
        return $this->belongsTo(Pile::class);
    }

    public function polish(): void
    {
        $this->shine = 1;
    }
}
""",
    "app/Models/Pile.php": """<?php

namespace App\\Models;

use Illuminate\\Database\\Eloquent\\Model;

class Pile extends Model
{
    public function stones()
    {
        return $this->hasMany(Stone::class);
    }
}
""",
    "database/migrations/2024_01_01_000000_create_stones_table.php": """<?php

use Illuminate\\Database\\Migrations\\Migration;
use Illuminate\\Database\\Schema\\Blueprint;
use Illuminate\\Support\\Facades\\Schema;

return new class extends Migration
{
    public function up(): void
    {
        Schema::create('stones', function (Blueprint $table) {
            $table->id();
            $table->integer('weight');
        });
    }
};
""",
    "database/migrations/2024_02_01_000000_add_shine_to_stones_table.php": """<?php

use Illuminate\\Database\\Migrations\\Migration;
use Illuminate\\Database\\Schema\\Blueprint;
use Illuminate\\Support\\Facades\\Schema;

return new class extends Migration
{
    public function up(): void
    {
        Schema::table('stones', function (Blueprint $table) {
            $table->integer('shine')->default(0);
        });
    }
};
""",
    "README.md": "# Quarry\n\nKeeps stones.\n",
}
UPDATE = "route:PUT api/stones/{stone}"
STONE = "class:App\\Models\\Stone"
API = "routes/api.php"
SHINE = "database/migrations/2024_02_01_000000_add_shine_to_stones_table.php"


def write(folder: Path) -> Path:
    """Return a folder with the application in it."""
    for name, text in APP.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder
